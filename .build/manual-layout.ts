import { addressFrom, escapeHtml, type Heading, type Page, rootOf } from './manual-pages.ts';

/** The HTML document of a page. It works without scripts: the search is shown by its script. */

/** Names of files in the folder of assets. */
export type Assets = { style: string; script: string; index: string; icon: string };

/** Pages in the order of the map, and their neighbors. */
export function renderDocument(page: Page, pages: readonly Page[], assets: Assets): string {
  const { path, title } = page;
  const root = rootOf(path);
  const name = path === 'index' ? title : `${title} · Troupe`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(name)}</title>
<meta name="description" content="${escapeHtml(page.summary)}">
<link rel="icon" href="${root}assets/${assets.icon}">
<link rel="stylesheet" href="${root}assets/${assets.style}">
<link rel="alternate" type="text/markdown" href="${root}${path}.md">
<script type="module" src="${root}assets/${assets.script}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
<a class="brand" href="${addressFrom(path, 'index')}">Troupe <span>Documentation</span></a>
<a class="menu" href="#pages">All pages</a>
${searchOf(path, assets)}
</header>
<div class="columns">
<main id="content" tabindex="-1">
${contentsOf(page.headings)}
<article>
${page.html}</article>
${neighborsOf(page, pages)}
</main>
${navigationOf(path, pages)}
</div>
</body>
</html>
`;
}

const searchOf = (path: string, { index }: Assets): string => {
  const root = rootOf(path);
  return `<form class="search" role="search" data-index="${root}assets/${index}" data-root="${root}" data-home="${addressFrom(path, 'index')}" hidden>
<input type="search" aria-label="Search the documentation" aria-describedby="found" placeholder="Search (press /)" autocomplete="off" spellcheck="false">
<p id="found" class="found" role="status"></p>
<ul class="results"></ul>
</form>`;
};

function contentsOf(headings: readonly Heading[]): string {
  const listed = headings.filter(({ level }) => level === 2 || level === 3);
  if (listed.length < 2) return '';
  const items = listed.map(
    ({ level, text, anchor }) =>
      `<li class="level-${level}"><a href="#${anchor}">${escapeHtml(text)}</a></li>`,
  );
  return `<nav class="contents" aria-label="On this page"><details><summary>On this page</summary>
<ul>
${items.join('\n')}
</ul></details></nav>`;
}

const folderOf = (path: string): string => (path.includes('/') ? path.slice(0, path.lastIndexOf('/')) : '');

const titleOfFolder = (folder: string): string =>
  folder === 'api' ? 'API' : folder.charAt(0).toUpperCase() + folder.slice(1).replaceAll('-', ' ');

function navigationOf(path: string, pages: readonly Page[]): string {
  const folders = [...new Set(pages.map((page) => folderOf(page.path)))];
  const lists = folders.map((folder) => {
    const items = pages
      .filter((page) => folderOf(page.path) === folder)
      .map((page) => {
        const here = page.path === path ? ' aria-current="page"' : '';
        return `<li><a href="${addressFrom(path, page.path)}"${here}>${escapeHtml(page.title)}</a></li>`;
      });
    const heading = folder === '' ? '' : `<p>${titleOfFolder(folder)}</p>\n`;
    return `${heading}<ul>\n${items.join('\n')}\n</ul>`;
  });
  return `<nav id="pages" class="pages" aria-label="Pages">\n${lists.join('\n')}\n</nav>`;
}

function neighborsOf({ path }: Page, pages: readonly Page[]): string {
  const at = pages.findIndex((page) => page.path === path);
  const link = (page: Page | undefined, rel: 'prev' | 'next', label: string): string =>
    page
      ? `<a rel="${rel}" href="${addressFrom(path, page.path)}"><span>${label}</span> ${escapeHtml(page.title)}</a>`
      : '';
  const before = at > 0 ? pages[at - 1] : undefined;
  return `<nav class="neighbors" aria-label="Previous and next page">${link(before, 'prev', 'Previous')}${link(pages[at + 1], 'next', 'Next')}</nav>`;
}
