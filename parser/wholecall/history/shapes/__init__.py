"""The shapes of transcripts: where each keeps its calls, results, texts and thoughts."""
