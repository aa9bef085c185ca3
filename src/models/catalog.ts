import { CATALOG } from './catalog-data.ts';
import { listName } from './upstream-name.ts';

/**
 * Built-in data about public models: limits, capabilities and prices.
 *
 * Guarantees: a name is found as given, without its date or `-latest`, and without the prefixes of gateways, Bedrock
 * and Vertex; a longer name that only starts like a known one is not found.
 * Cost: the first lookup splits the lines, which takes about a millisecond.
 */
export type KnownModel = {
  context_window?: number;
  max_output_tokens?: number;
  input?: readonly Modality[];
  output?: readonly Modality[];
  knowledge_cutoff?: string;
  takes_tools?: boolean;
  /** USD per million tokens; undefined if the input or the output price is unknown. */
  prices?: Prices;
};

type Modality = 'text' | 'image' | 'audio' | 'video' | 'pdf';

export type Prices = {
  input: number;
  output: number;
  cached_input?: number | undefined;
  cache_write_5m?: number | undefined;
  cache_write_1h?: number | undefined;
  reasoning?: number | undefined;
};

/** Tables of the companies that make models. Gateways offer the models under the same names. */
const VENDORS = [
  'anthropic',
  'openai',
  'gemini',
  'deepseek',
  'mistral',
  'xai',
  'zai',
  'aliyun',
  'cohere',
  'mimo',
] as const;

/** The tables of an adapter. Every other adapter uses only the table with its name. */
const TABLES: Readonly<Record<string, readonly string[]>> = {
  // The address may be a gateway.
  anthropic: ['anthropic', ...VENDORS],
  openai: ['openai', ...VENDORS],
  openai_resp: ['openai', ...VENDORS],
  azure: ['openai', ...VENDORS],
  openrouter: VENDORS,
  vertex: VENDORS,
  bedrock: ['bedrock', ...VENDORS],
};

/** `adapter`: undefined for a provider that the embedding program defines. */
export function knownModel(adapter: string | undefined, upstream: string): KnownModel | undefined {
  if (adapter === 'scripted') return undefined;
  const tables = adapter === undefined ? VENDORS : (TABLES[adapter] ?? [adapter]);
  for (const table of tables) {
    for (const name of namesOf(listName(upstream))) {
      const line = lines().get(table)?.get(name);
      if (line !== undefined) return parseLine(line);
    }
  }
  return undefined;
}

/** The models of the company or service of an adapter, as its API names them. */
export function namesOfCatalog(adapter: string): readonly string[] {
  const table = adapter === 'openai_resp' || adapter === 'azure' ? 'openai' : adapter;
  const [, part = ''] = `\n${CATALOG}`.split(`\n# ${table}\n`);
  const [rows = ''] = part.split('\n# ', 1);
  return rows
    .split('\n')
    .flatMap((row) => row.split('\t', 1))
    .filter((name) => name !== '');
}

const DATE = /[-@](?:\d{8}|\d{4}-\d{2}-\d{2}|\d{2}-\d{4})$/;
const REGION = /^[a-z]{2,6}(?:-gov)?\.(?=[a-z0-9-]+\.)/;

/** The name as given, then its forms without prefixes and suffixes, longest first. */
function namesOf(upstream: string): ReadonlySet<string> {
  const names = new Set([upstream]);
  const path = upstream.slice(upstream.lastIndexOf('/') + 1);
  for (const name of [path, path.replace(REGION, '')]) {
    names.add(name);
    // `anthropic.claude-…-v1:0` of Bedrock, `claude-…@20250929` of Vertex, `…:free` of OpenRouter.
    const plain = name.replace(/(?:-v\d+)?(?::[a-z0-9-]+)?$/, '').replace(/^[a-z0-9-]+\.(?=[a-z])/, '');
    for (const each of [plain, plain.replace(/-latest$|@default$|-\d{3}$/, ''), plain.replace(DATE, '')]) {
      names.add(each);
      // OpenRouter and GitHub write `claude-opus-4.7`.
      names.add(each.replaceAll('.', '-'));
    }
  }
  return names;
}

type Lines = ReadonlyMap<string, ReadonlyMap<string, string>>;

let split: Lines | undefined;

const lines = (): Lines => {
  split ??= splitCatalog(CATALOG);
  return split;
};

function splitCatalog(text: string): Lines {
  const tables = new Map<string, Map<string, string>>();
  for (const part of text.split('# ').slice(1)) {
    const [table = '', ...rows] = part.trimEnd().split('\n');
    const byName = new Map<string, string>();
    for (const row of rows) {
      const tab = row.indexOf('\t');
      byName.set(row.slice(0, tab), row.slice(tab + 1));
    }
    // A model that is listed only with dates is also found without one; the newest entry comes last and wins.
    for (const [id, line] of [...byName]) {
      const undated = id.replace(/-latest$/, '').replace(DATE, '');
      if (undated !== id && !rows.some((row) => row.startsWith(`${undated}\t`))) byName.set(undated, line);
    }
    tables.set(table, byName);
  }
  return tables;
}

function parseLine(line: string): KnownModel {
  const [context, output, inputs, outputs, cutoff, tools, ...prices] = line.split('\t');
  const priced = pricesIn(prices);
  return {
    ...(context && { context_window: Number(context) }),
    ...(output && { max_output_tokens: Number(output) }),
    ...(inputs && { input: modalitiesIn(inputs) }),
    ...(outputs && { output: modalitiesIn(outputs) }),
    ...(cutoff && { knowledge_cutoff: cutoff }),
    ...(tools && { takes_tools: tools === 'yes' }),
    ...(priced && { prices: priced }),
  };
}

const MODALITIES: readonly Modality[] = ['text', 'image', 'audio', 'video', 'pdf'];

const modalitiesIn = (letters: string): Modality[] =>
  MODALITIES.filter((name) => letters.includes(name.charAt(0)));

function pricesIn(cells: readonly string[]): Prices | undefined {
  const [input, output, cached_input, cache_write_5m, cache_write_1h, reasoning] = cells.map((cell) =>
    cell === '' ? undefined : Number(cell),
  );
  return input === undefined || output === undefined
    ? undefined
    : { input, output, cached_input, cache_write_5m, cache_write_1h, reasoning };
}
