import { posix } from 'node:path';
import GithubSlugger from 'github-slugger';
import { Marked, type Token, type Tokens } from 'marked';

/**
 * Reads Markdown files of the manual: their headings with the anchors of GitHub, their links, their text for the search,
 * and their HTML. A page is named by its path without `.md`, such as `reference/runtime`.
 */

export type Heading = { level: number; text: string; anchor: string };

/** A heading with the text below it, up to the next heading. */
export type Section = Heading & { body: string };

export type Outline = { headings: Heading[]; links: string[]; code: { language: string; text: string }[] };

export type Page = {
  path: string;
  title: string;
  /** The first sentence of the page. */
  summary: string;
  headings: Heading[];
  sections: Section[];
  html: string;
};

const REPOSITORY = 'https://github.com/troupe-dev/troupe/blob/HEAD/';
const FOLDER = 'src/docs';

/** Headings, targets of links, and code blocks of a Markdown file. */
export function readOutline(source: string): Outline {
  const marked = new Marked();
  const tokens = marked.lexer(source);
  const links: string[] = [];
  const code: Outline['code'] = [];
  marked.walkTokens(tokens, (token) => {
    if (token.type === 'link' || token.type === 'image') links.push(token.href);
    if (token.type === 'code') code.push({ language: token.lang ?? '', text: token.text });
  });
  return { headings: [...headingsIn(marked, tokens).values()], links, code };
}

export function renderPage(path: string, source: string): Page {
  const marked = new Marked();
  const tokens = marked.lexer(source);
  const headings = headingsIn(marked, tokens);
  const sections = sectionsOf(tokens, headings);
  marked.walkTokens(tokens, (token) => {
    if (token.type === 'link' || token.type === 'image') token.href = resolveLink(path, token.href);
  });
  marked.use({ renderer: rendererFor(headings) });
  const [first] = headings.values();
  return {
    path,
    title: first?.text ?? path,
    summary: summaryOf(tokens),
    headings: [...headings.values()],
    sections,
    html: marked.parser(tokens),
  };
}

/** The address of a page relative to the address of another one. The page `index` has the address `/docs`. */
export function addressFrom(from: string, to: string): string {
  const root = rootOf(from);
  if (to !== 'index') return `${root}${to}`;
  return from === 'index' ? 'docs' : `${root === './' ? '' : root}../docs`;
}

/** The address of the folder of all pages relative to the address of a page, with a slash at the end. */
export function rootOf(path: string): string {
  if (path === 'index') return 'docs/';
  return '../'.repeat(path.split('/').length - 1) || './';
}

/** Links to files become links to pages; links to files outside the manual lead to the repository. */
function resolveLink(from: string, href: string): string {
  if (/^([a-z][a-z0-9+.-]*:|#|\/)/i.test(href)) return href;
  const [, path = '', anchor = ''] = /^([^#]*)(.*)$/.exec(href) ?? [];
  const target = posix.normalize(posix.join(posix.dirname(from), path));
  if (target.startsWith('..')) return `${REPOSITORY}${posix.normalize(`${FOLDER}/${target}`)}${anchor}`;
  if (target.endsWith('.md')) return addressFrom(from, target.slice(0, -'.md'.length)) + anchor;
  return `${rootOf(from)}${target}${anchor}`;
}

function headingsIn(marked: Marked, tokens: Token[]): Map<Token, Heading> {
  const slugger = new GithubSlugger();
  const found = new Map<Token, Heading>();
  marked.walkTokens(tokens, (token) => {
    if (token.type !== 'heading') return;
    const text = textOf(token);
    found.set(token, { level: token.depth, text, anchor: slugger.slug(text) });
  });
  return found;
}

function sectionsOf(tokens: readonly Token[], headings: ReadonlyMap<Token, Heading>): Section[] {
  const sections: Section[] = [];
  for (const token of tokens) {
    const heading = headings.get(token);
    const last = sections.at(-1);
    if (heading) sections.push({ ...heading, body: '' });
    else if (last) last.body = `${last.body} ${textOf(token)}`.replaceAll(/\s+/g, ' ').trim();
  }
  return sections;
}

const SENTENCE = /^.*?[.:](?= [A-Z`]|$)/;

function summaryOf(tokens: readonly Token[]): string {
  const paragraph = tokens.find(({ type }) => type === 'paragraph');
  const text = paragraph ? textOf(paragraph).replaceAll(/\s+/g, ' ') : '';
  return (SENTENCE.exec(text)?.[0] ?? text).replace(/:$/, '.');
}

/** The text of a token without markup. Comments and other HTML are left out. */
function textOf(token: Token): string {
  if (token.type === 'html') return '';
  if (token.type === 'br' || token.type === 'space') return ' ';
  if (token.type === 'table') {
    const { header, rows } = token as Tokens.Table;
    return [header, ...rows].flatMap((row) => row.map(({ tokens }) => tokens.map(textOf).join(''))).join(' ');
  }
  if (token.type === 'list') return (token as Tokens.List).items.map(textOf).join(' ');
  if ('tokens' in token && token.tokens) {
    return token.tokens.map(textOf).join(INLINE.has(token.type) ? '' : ' ');
  }
  return 'text' in token ? token.text : '';
}

/** Tokens whose children are parts of one text. */
const INLINE = new Set(['heading', 'paragraph', 'text', 'strong', 'em', 'del', 'link']);

export const escapeHtml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

type Renderer = NonNullable<Parameters<Marked['use']>[0]['renderer']>;

/** Wide blocks scroll, and can be focused to be scrolled with the keyboard. */
function rendererFor(headings: ReadonlyMap<Token, Heading>): Renderer {
  return {
    heading(token) {
      const { anchor = '', text = '' } = headings.get(token) ?? {};
      const link = `<a class="anchor" href="#${anchor}" aria-label="Link to ${escapeHtml(text)}">#</a>`;
      const content = this.parser.parseInline(token.tokens);
      return `<h${token.depth} id="${anchor}">${content} ${link}</h${token.depth}>\n`;
    },
    code({ text, lang }) {
      const name = lang ? ` class="language-${escapeHtml(lang.split(' ', 1)[0] ?? '')}"` : '';
      return `<pre tabindex="0"><code${name}>${escapeHtml(text)}\n</code></pre>\n`;
    },
    table({ header, rows }) {
      const cells = (row: Tokens.TableCell[], tag: string): string =>
        row
          .map(({ tokens, align }) => {
            const side = align ? ` align="${align}"` : '';
            // A header without text names nothing, so it is an ordinary cell.
            const name = tokens.length === 0 ? 'td' : tag;
            return `<${name}${side}>${this.parser.parseInline(tokens)}</${name}>`;
          })
          .join('');
      const body = rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n');
      return `<div class="table" tabindex="0"><table><thead><tr>${cells(header, 'th')}</tr></thead>\n<tbody>${body}</tbody></table></div>\n`;
    },
    html({ text }) {
      return text.replaceAll(/<!--[\s\S]*?-->/g, '');
    },
  };
}
