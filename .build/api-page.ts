import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import GithubSlugger from 'github-slugger';
import type { ApiExport, ApiModule, ApiTag } from './api-modules.ts';
import { readOutline } from './manual-pages.ts';
import { ROOT } from './sources.ts';

/** The Markdown page of an entry point. */

const DOCS = join(ROOT, 'src/docs');

const GROUPS = [
  { kind: 'function', title: 'Functions' },
  { kind: 'constant', title: 'Constants' },
  { kind: 'class', title: 'Classes' },
  { kind: 'type', title: 'Types' },
] as const;

export function pageOf(module: ApiModule, modules: readonly ApiModule[]): string {
  const anchors = new Map(modules.map((each) => [each.page, anchorsOf(each)]));
  const link = ({ page, name }: { page: string; name: string }): string => {
    const file = page === module.page ? '' : posix.relative(posix.dirname(module.page), `${page}.md`);
    return `[\`${name}\`](${file}#${anchors.get(page)?.get(name) ?? ''})`;
  };
  const groups = GROUPS.flatMap(({ kind, title }) => {
    const exports = module.exports.filter((each) => each.kind === kind);
    return exports.length === 0 ? [] : [`## ${title}`, ...exports.map((each) => sectionOf(each, link))];
  });
  const others =
    module.others.length > 0 ? ['## Exports of other modules', module.others.map(link).join(', ')] : [];
  return `${withLinks([`# ${module.name}`, module.text, ...groups, ...others].join('\n\n'))}\n`;
}

/** The anchors of exports by their names. */
function anchorsOf({ name, exports }: ApiModule): Map<string, string> {
  const slugger = new GithubSlugger();
  slugger.slug(name);
  const anchors = new Map<string, string>();
  for (const { kind, title } of GROUPS) {
    const group = exports.filter((each) => each.kind === kind);
    if (group.length > 0) slugger.slug(title);
    for (const each of group) anchors.set(each.name, slugger.slug(each.name));
  }
  return anchors;
}

function sectionOf(
  { name, text, tags, examples, declaration, uses }: ApiExport,
  link: (place: { page: string; name: string }) => string,
): string {
  const parts = [`### ${name}`, text, `\`\`\`ts\n${declaration}\n\`\`\``];
  parts.push(...tags.map(lineOf));
  if (uses.length > 0) parts.push(`Types: ${uses.map(link).join(', ')}`);
  parts.push('**Example**', ...examples);
  return parts.filter((part) => part !== '').join('\n\n');
}

const LABELS: Readonly<Record<string, string>> = { '@throws': 'Throws', '@returns': 'Returns' };

const lineOf = ({ tag, name, text }: ApiTag): string =>
  tag === '@param' ? `\`${name}\`: ${text}` : `**${LABELS[tag] ?? tag}** ${text}`;

/** Citations of pages of the manual, such as `guides/client.md` and `runtime.md 13.5`. */
const CITED = /\b((?:guides\/)?[a-z0-9-]+)\.md(?: ((?:[A-Z]?\d+)(?:\.\d+)*))?(?![\w)]*\()/g;

const CODE = /(```[\s\S]*?```|`[^`\n]*`)/;

/** Links citations of the manual outside of code. */
function withLinks(markdown: string): string {
  return markdown
    .split(CODE)
    .map((text, index) => (index % 2 === 1 ? text : text.replaceAll(CITED, linkOf)))
    .join('');
}

function linkOf(cited: string, page: string, number: string | undefined): string {
  const path = page.includes('/') ? page : `reference/${page}`;
  const outline = outlines().get(path);
  if (!outline) return cited;
  const heading = number && outline.headings.find(({ text }) => new RegExp(`^${number}[. ]`).test(text));
  const title = outline.headings[0]?.text ?? cited;
  return `[${number ? `${title} ${number}` : title}](../${path}.md${heading ? `#${heading.anchor}` : ''})`;
}

let read: Map<string, ReturnType<typeof readOutline>> | undefined;

function outlines(): Map<string, ReturnType<typeof readOutline>> {
  read ??= new Map(
    ['guides', 'reference'].flatMap((folder) =>
      readdirSync(join(DOCS, folder)).map((name) => {
        const path = `${folder}/${name.replace(/\.md$/, '')}`;
        return [path, readOutline(readFileSync(join(DOCS, folder, name), 'utf8'))] as const;
      }),
    ),
  );
  return read;
}
