import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Maps positions of a bundled program to modules: bundlers write the path of each module above its code. */

type Section = { line: number; path: string };

const files = new Map<string, readonly Section[]>();

/** Paths of the modules in a loaded script. */
export function listModules(url: string): string[] {
  return sectionsIn(url).map(({ path }) => path);
}

/** The path of the module at a 0-based line, or the address of a script that is not bundled. */
export function moduleAt(url: string, line: number): string {
  const section = sectionsIn(url).findLast((section) => section.line <= line);
  return section?.path ?? url;
}

/** The package or source folder of a path, or the path itself if it is in neither; `node:internal/…` is node. */
export function groupOf(path: string): string {
  const name = /node_modules\/((?:@[^/]+\/)?[^/]+)/g;
  const packages = Array.from(path.matchAll(name), ([, found = '']) => found);
  const last = packages.at(-1);
  if (last !== undefined) return last;
  if (path.startsWith('node:')) return 'node';
  return /(?:^|\/)((?:src|machines)\/[^/]+)/.exec(path)?.[1] ?? path;
}

function sectionsIn(url: string): readonly Section[] {
  const known = files.get(url);
  if (known) return known;
  const sections: Section[] = [];
  const file = url.startsWith('file:') ? fileURLToPath(url) : '';
  if (existsSync(file)) {
    for (const [line, text] of readFileSync(file, 'utf8').split('\n').entries()) {
      const [, path] = /^\/\/(?:#region)? ((?:\.\.\/)*(?:src|machines|node_modules)\/\S+)$/.exec(text) ?? [];
      if (path !== undefined) sections.push({ line, path });
    }
  }
  files.set(url, sections);
  return sections;
}
