import type { Json, JsonObject } from '../../schema/json.ts';
import type { ProviderCall, ProviderTool, ProviderToolType } from '../../schema/provider-tool.ts';
import type { Block, Turn } from './anthropic-turn.ts';
import { listOf, objectOf, textOf } from './read.ts';

/**
 * Tools that the service executes: their form in a request, the reports of their blocks, and the blocks that a later
 * request contains.
 */

type Offered = { tools: JsonObject[]; betas: string[] };

/** Each tool has a version, which may require a beta header. */
export const serverTools = (tools: readonly ProviderTool[] = []): Offered => {
  const offered: Offered = { tools: [], betas: [] };
  for (const tool of tools) {
    switch (tool.type) {
      case 'web_search':
        offered.tools.push({
          type: 'web_search_20250305',
          name: 'web_search',
          ...limitsOf(tool),
          ...(tool.user_location && { user_location: { type: 'approximate', ...tool.user_location } }),
        });
        break;
      case 'web_fetch':
        offered.tools.push({
          type: 'web_fetch_20250910',
          name: 'web_fetch',
          ...limitsOf(tool),
          citations: { enabled: true },
          ...(tool.max_content_tokens !== undefined && { max_content_tokens: tool.max_content_tokens }),
        });
        offered.betas.push('web-fetch-2025-09-10');
        break;
      case 'code_execution':
        offered.tools.push({ type: 'code_execution_20250825', name: 'code_execution' });
        offered.betas.push('code-execution-2025-08-25');
        break;
      case 'file_search':
        break;
    }
  }
  return offered;
};

type Limits = Pick<
  Extract<ProviderTool, { type: 'web_search' }>,
  'allowed_domains' | 'blocked_domains' | 'max_uses'
>;

const limitsOf = ({ allowed_domains, blocked_domains, max_uses }: Limits): JsonObject => ({
  ...(allowed_domains && { allowed_domains }),
  ...(blocked_domains && { blocked_domains }),
  ...(max_uses !== undefined && { max_uses }),
});

const BY_NAME: ReadonlyMap<unknown, ProviderToolType> = new Map([
  ['web_search', 'web_search'],
  ['web_fetch', 'web_fetch'],
  ['code_execution', 'code_execution'],
  ['bash_code_execution', 'code_execution'],
  ['text_editor_code_execution', 'code_execution'],
]);

const RESULT = '_tool_result';

/** The tool of a block; undefined for blocks of other kinds. */
export const toolOfBlock = ({ type, name }: JsonObject): ProviderToolType | undefined => {
  if (type === 'server_tool_use') return BY_NAME.get(name);
  return typeof type === 'string' && type.endsWith(RESULT)
    ? BY_NAME.get(type.slice(0, -RESULT.length))
    : undefined;
};

export const isResultBlock = ({ type }: JsonObject): boolean => type !== 'server_tool_use';

/** `input` is undefined while the arguments are incomplete. */
export const startedCall = (
  { id, name }: JsonObject,
  tool: ProviderToolType,
  input: JsonObject | undefined,
): ProviderCall => ({
  id: textOf(id) ?? '',
  tool,
  status: 'running',
  ...(input && { input: inputOf(name, input) }),
});

const inputOf = (name: unknown, input: JsonObject): JsonObject => {
  const { query, url, command } = input;
  if (typeof query === 'string') return { queries: [query] };
  if (typeof url === 'string') return { urls: [url] };
  return name === 'bash_code_execution' && typeof command === 'string'
    ? { code: command, language: 'bash' }
    : input;
};

/** Converts a result block to a report. Encrypted content is only meaningful to the service and is omitted. */
export const callEnded = ({ tool_use_id, content }: JsonObject, tool: ProviderToolType): ProviderCall => {
  const call = { id: textOf(tool_use_id) ?? '', tool };
  const result = objectOf(content);
  const error = textOf(result?.error_code);
  if (error !== undefined) return { ...call, status: 'failed', error };
  return { ...call, status: 'completed', output: outputOf(tool, content, result ?? {}) };
};

const outputOf = (tool: ProviderToolType, content: Json | undefined, result: JsonObject): JsonObject => {
  switch (tool) {
    case 'web_search':
      return { results: listOf(content).flatMap((each) => pageOf(objectOf(each)) ?? []) };
    case 'web_fetch': {
      const { url, retrieved_at = null } = result;
      return { pages: [{ ...pageOf({ url: url ?? '', ...titleOf(result.content) }), retrieved_at }] };
    }
    default: {
      const { type: _, content: files, ...rest } = result;
      const made = listOf(files).flatMap((each) => textOf(objectOf(each)?.file_id) ?? []);
      return {
        ...rest,
        ...(typeof files === 'string' && { content: files }),
        ...(made.length > 0 && { files: made.map((file_id) => ({ file_id })) }),
      };
    }
  }
};

const titleOf = (document: Json | undefined): { title?: string } => {
  const title = textOf(objectOf(document)?.title);
  return title === undefined ? {} : { title };
};

const pageOf = (page: JsonObject | undefined): JsonObject | undefined => {
  if (!page || typeof page.url !== 'string') return undefined;
  const { url, title, page_age } = page;
  return {
    url,
    ...(typeof title === 'string' && { title }),
    ...(typeof page_age === 'string' && { page_age }),
  };
};

/**
 * Removes service calls without a result and results without a call, because the service rejects both. In a message
 * that ends with calls of Troupe's own tools, the service executes its calls when it receives the results of the
 * others. Its calls therefore stay there until the next completion, which contains their results.
 */
export const pairServerCalls = (turns: readonly Turn[], following: readonly Block[]): Turn[] => {
  const isResult = (block: Block): boolean => toolOfBlock(block) !== undefined && isResultBlock(block);
  const results = new Set(
    [...turns.flatMap(({ content }) => content), ...following]
      .filter(isResult)
      .map(({ tool_use_id }) => tool_use_id),
  );
  const used = new Set<Json | undefined>();
  const last = turns.findLastIndex(({ role }) => role === 'assistant');
  const paired: Turn[] = [];
  for (const [index, { role, content }] of turns.entries()) {
    const waits = index === last && content.some(({ type }) => type === 'tool_use');
    const kept = content.filter((block) => {
      if (toolOfBlock(block) === undefined) return true;
      if (isResult(block)) return used.delete(block.tool_use_id);
      const isKept = (waits || results.has(block.id)) && !used.has(block.id);
      if (isKept) used.add(block.id);
      return isKept;
    });
    const before = paired.at(-1);
    // A message that became empty separated two user messages.
    if (before?.role === role) before.content.push(...kept);
    else if (kept.length > 0) paired.push({ role, content: kept });
  }
  return paired;
};
