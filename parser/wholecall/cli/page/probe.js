
// Light or dark, and nothing else: the page is whole without it.

followTheme();
