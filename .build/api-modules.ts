import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Application, type Comment, type Context, Converter, type DeclarationReflection } from 'typedoc';
import ts from 'typescript-5';
import { declarationOf, type Sources } from './api-declarations.ts';
import { schemasByName } from './api-fields.ts';
import { ENTRIES, type Entry } from './entries.ts';
import { listFiles, ROOT } from './sources.ts';

/** Reads the exports of all entry points: comments with TypeDoc, and declarations with its compiler. */

export type ApiTag = { tag: string; name: string; text: string };

export type ApiExport = {
  name: string;
  kind: 'function' | 'constant' | 'class' | 'type';
  text: string;
  /** Tags other than examples. */
  tags: ApiTag[];
  /** Markdown with blocks of code. */
  examples: string[];
  declaration: string;
  /** Pages and names of other exports that the declaration uses. */
  uses: { page: string; name: string }[];
};

export type ApiModule = {
  name: string;
  page: string;
  text: string;
  exports: ApiExport[];
  /** Exports that another module documents. */
  others: { page: string; name: string }[];
};

const OPTIONS = {
  name: 'Troupe',
  readme: 'none',
  skipErrorChecking: true,
  disableSources: true,
  excludeExternals: true,
  sortEntryPoints: false,
  logLevel: 'Warn',
  // Types that programs need not name are not exported; pages show them below the declarations that use them.
  validation: { notExported: false, invalidLink: true },
} as const;

/** An export of several modules is documented in the first one of this order. */
const inOrder = (): Entry[] => {
  const rank = ({ module }: Entry): number => ['troupe/client', 'troupe'].indexOf(module);
  return [...ENTRIES].sort(
    (one, other) => (rank(other) >= 0 ? 1 : 0) - (rank(one) >= 0 ? 1 : 0) || rank(one) - rank(other),
  );
};

/** @throws Error when TypeDoc reports a warning */
export async function readModules(parts: string): Promise<ApiModule[]> {
  shortenMachines(parts);
  const entries = inOrder();
  const fileOf = ({ output }: Entry): string => join(parts, `${output}.d.ts`);
  const tsconfig = join(parts, 'tsconfig.json');
  const files = entries.map(fileOf);
  writeFileSync(
    tsconfig,
    JSON.stringify({ extends: join(ROOT, 'tsconfig.json'), files, include: [], exclude: [] }),
  );
  const app = await Application.bootstrap({ ...OPTIONS, entryPoints: files, tsconfig });
  const schemas = await schemasByName();
  const modules: ApiModule[] = [];
  app.converter.on(Converter.EVENT_RESOLVE_END, (context: Context) => {
    const program = context.programs[0];
    if (!program) return;
    const checker = program.getTypeChecker();
    const exported = exportsIn(
      program,
      entries.map((entry) => ({ page: entry.page, file: fileOf(entry) })),
    );
    const isOwn = (node: ts.Node): boolean => node.getSourceFile().fileName.startsWith(parts);
    const types = new Map([...exported.names.values()].map((key) => [placeOf(key).name, key]));
    const sources = { checker, isOwn, exported: exported.names, types, schemas };
    for (const entry of entries) {
      const reflection = context.project.children?.find(({ name }) => name === entry.module);
      if (reflection) modules.push(moduleOf(reflection, entry, exported.symbols, sources));
    }
  });
  const project = await app.convert();
  if (project) app.validate(project);
  if (!project || app.logger.hasWarnings() || app.logger.hasErrors())
    throw new Error('TypeDoc reported the problems above');
  return modules;
}

function shortenMachines(parts: string): void {
  for (const file of listFiles(join(parts, 'machines'))) {
    writeFileSync(file, withShortMachines(readFileSync(file, 'utf8')));
  }
}

/** Omits the type arguments of statecharts, which are longer than their definitions and slow to read. */
function withShortMachines(text: string): string {
  let short = text;
  for (let at = short.indexOf('StateMachine<'); at >= 0; at = short.indexOf('StateMachine<', at + 1)) {
    let end = at + 'StateMachine'.length;
    let depth = 0;
    do {
      if (short[end] === '<') depth += 1;
      if (short[end] === '>' && short[end - 1] !== '=') depth -= 1;
      end += 1;
    } while (depth > 0 && end < short.length);
    short = short.slice(0, at + 'StateMachine'.length) + short.slice(end);
  }
  return short.replaceAll('import("xstate").', '');
}

type Exported = {
  /** `<page>#<name>` by symbol: where it is documented. */
  names: Map<ts.Symbol, string>;
  /** Symbols by `<page>#<name>`. */
  symbols: Map<string, ts.Symbol>;
};

function exportsIn(program: ts.Program, entries: readonly { page: string; file: string }[]): Exported {
  const checker = program.getTypeChecker();
  const names = new Map<ts.Symbol, string>();
  const symbols = new Map<string, ts.Symbol>();
  for (const { page, file } of entries) {
    const source = program.getSourceFile(file);
    const module = source && checker.getSymbolAtLocation(source);
    for (const each of module ? checker.getExportsOfModule(module) : []) {
      const symbol = each.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(each) : each;
      const key = `${page}#${each.name}`;
      symbols.set(key, symbol);
      if (!names.has(symbol)) names.set(symbol, key);
    }
  }
  return { names, symbols };
}

const placeOf = (key: string): { page: string; name: string } => {
  const [page = '', name = ''] = key.split('#');
  return { page, name };
};

function moduleOf(
  reflection: DeclarationReflection,
  { module, page }: Entry,
  symbols: ReadonlyMap<string, ts.Symbol>,
  sources: Sources,
): ApiModule {
  const found: ApiExport[] = [];
  const others: ApiModule['others'] = [];
  for (const [key, symbol] of symbols) {
    const { page: of, name } = placeOf(key);
    if (of !== page) continue;
    const place = sources.exported.get(symbol) ?? key;
    if (place !== key) others.push(placeOf(place));
    else found.push(exportOf(name, symbol, reflection, sources));
  }
  const byName = (one: { name: string }, other: { name: string }): number =>
    one.name.localeCompare(other.name);
  return {
    name: module,
    page,
    text: textOf(reflection.comment),
    exports: found.sort(byName),
    others: others.sort(byName),
  };
}

function exportOf(
  name: string,
  symbol: ts.Symbol,
  module: DeclarationReflection,
  sources: Sources,
): ApiExport {
  const comments = (module.children ?? [])
    .filter((child) => child.name === name)
    .flatMap((child) => [child.comment, ...(child.signatures ?? []).map(({ comment }) => comment)])
    .filter((comment) => comment !== undefined);
  const comment = comments.find((each) => each.blockTags.length > 0) ?? comments[0];
  const { text, uses } = declarationOf(symbol, sources);
  const tags = (comment?.blockTags ?? []).map(({ tag, name: of = '', content }) => ({
    tag,
    name: of,
    text: content
      .map((part) => part.text)
      .join('')
      .trim(),
  }));
  return {
    name,
    kind: kindOf(symbol, text),
    text: textOf(comment),
    tags: tags.filter(({ tag }) => tag !== '@example'),
    examples: tags.filter(({ tag }) => tag === '@example').map((each) => each.text),
    declaration: text,
    uses: uses.map(placeOf),
  };
}

const textOf = (comment: Comment | undefined): string =>
  (comment?.summary ?? [])
    .map(({ text }) => text)
    .join('')
    .trim();

/** A schema and the type that it infers have one name; the declaration is that of the type. */
function kindOf(symbol: ts.Symbol, declaration: string): ApiExport['kind'] {
  if (declaration.startsWith('class ')) return 'class';
  if (declaration.startsWith('type ') || declaration.startsWith('interface ')) return 'type';
  return symbol.flags & ts.SymbolFlags.Function || /^const \w+: (<|\()/.test(declaration)
    ? 'function'
    : 'constant';
}
