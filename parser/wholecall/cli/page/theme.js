
// Light or dark: as the system has it, until one chooses.

const at = (id) => document.getElementById(id);

function followTheme(changed = () => {}) {
  const darkness = window.matchMedia("(prefers-color-scheme: dark)");
  const set = (isDark) => {
    document.documentElement.dataset.theme = isDark ? "dark" : "light";
    changed();
  };
  darkness.addEventListener("change", () => set(darkness.matches));
  at("theme").addEventListener("click", () => set(document.documentElement.dataset.theme !== "dark"));
  set(darkness.matches);
}
