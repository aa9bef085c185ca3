import { listOf, objectOf } from '../../../src/models/wire/read.ts';
import type { WireRequest } from '../../../src/models/wire/wire.ts';
import type { JsonObject } from '../../../src/schema/json.ts';

/**
 * Rules for tools that services execute, as documented or reported. Each function returns the reasons for a rejection.
 */

const objectsIn = (list: unknown): JsonObject[] => listOf(list).map((each) => objectOf(each) ?? {});

/** Versions of Anthropic's tools, with the beta that each one requires. */
const VERSIONS: ReadonlyMap<unknown, { name: string; beta?: string; fields: readonly string[] }> = new Map([
  [
    'web_search_20250305',
    {
      name: 'web_search',
      fields: ['allowed_domains', 'blocked_domains', 'max_uses', 'user_location'],
    },
  ],
  [
    'web_fetch_20250910',
    {
      name: 'web_fetch',
      beta: 'web-fetch-2025-09-10',
      fields: ['allowed_domains', 'blocked_domains', 'max_uses', 'citations', 'max_content_tokens'],
    },
  ],
  ['code_execution_20250825', { name: 'code_execution', beta: 'code-execution-2025-08-25', fields: [] }],
]);

export const isServerTool = ({ type }: JsonObject): boolean => type !== undefined && type !== 'custom';

export const anthropicToolProblems = ({ headers, body }: WireRequest): string[] => {
  const betas = (headers['anthropic-beta'] ?? '').split(',');
  return objectsIn(body.tools)
    .filter(isServerTool)
    .flatMap(({ type, name, ...fields }) => {
      const version = VERSIONS.get(type);
      if (!version) return [`tools: Input tag '${type}' does not match any of the expected tags`];
      return [
        ...(name === version.name ? [] : [`tools.name: Input should be '${version.name}'`]),
        ...(version.beta === undefined || betas.includes(version.beta) ? [] : [`needs beta ${version.beta}`]),
        ...Object.keys(fields)
          .filter((field) => !version.fields.includes(field))
          .map((field) => `tools.${field}: Extra inputs are not permitted`),
        ...(fields.allowed_domains && fields.blocked_domains
          ? ['Only one of `allowed_domains` and `blocked_domains` may be specified']
          : []),
      ];
    });
};

const isUse = ({ type }: JsonObject): boolean => type === 'server_tool_use';
const isResult = ({ type }: JsonObject): boolean =>
  /^(web_search|web_fetch|(bash_|text_editor_)?code_execution)_tool_result$/.test(String(type));

export const isServerBlock = (block: JsonObject): boolean => isUse(block) || isResult(block);

/**
 * A call has its result in the same message. In a message that also calls client tools, the result is in the next
 * completion, or the service executes the call if there is none.
 */
export const anthropicBlockProblems = ({ body }: WireRequest): string[] => {
  const problems: string[] = [];
  const open = new Map<unknown, { waits: boolean }>();
  const answers = objectsIn(body.messages).filter(({ role }) => role === 'assistant');
  for (const [index, { content }] of answers.entries()) {
    const blocks = objectsIn(content);
    for (const call of open.values()) call.waits = false;
    const waits = blocks.some(({ type }) => type === 'tool_use');
    for (const block of blocks) {
      if (block.cache_control !== undefined && isServerBlock(block))
        problems.push('a kept block was changed');
      if (isUse(block)) open.set(block.id, { waits });
      if (isResult(block) && !open.delete(block.tool_use_id))
        problems.push(`unexpected \`tool_use_id\` found in \`${block.type}\`: ${block.tool_use_id}`);
      for (const result of block.type === 'web_search_tool_result' ? objectsIn(block.content) : [])
        if (typeof result.encrypted_content !== 'string') problems.push('encrypted_content: Field required');
    }
    for (const [id, call] of open) {
      if (call.waits) continue;
      problems.push(`messages.${index}: \`${id}\` was found without a corresponding result block`);
      open.delete(id);
    }
  }
  return problems;
};

const RESPONSES_ITEMS = ['web_search_call', 'file_search_call', 'code_interpreter_call'];
const INCLUDES: Record<string, string> = {
  'web_search_call.action.sources': 'web_search',
  'code_interpreter_call.outputs': 'code_interpreter',
  'file_search_call.results': 'file_search',
};

export const isBuiltInItem = ({ type }: JsonObject): boolean => RESPONSES_ITEMS.includes(String(type));

/** The service stores nothing, so it finds no item by its id. */
export const rejectedBuiltInItem = (item: JsonObject): string | undefined => {
  if (item.id !== undefined)
    return `Item with id '${item.id}' not found. Items are not persisted when \`store\` is set to false.`;
  if (item.status !== 'completed') return 'Invalid status';
  if (item.type === 'web_search_call')
    return typeof objectOf(item.action)?.type === 'string' ? undefined : "Missing 'action'";
  if (item.type === 'code_interpreter_call')
    return typeof item.container_id === 'string' ? undefined : "Missing 'container_id'";
  return Array.isArray(item.queries) ? undefined : "Missing 'queries'";
};

export const rejectedBuiltInTools = ({ tools, include, max_tool_calls }: JsonObject): string | undefined => {
  const builtIn = objectsIn(tools).filter(({ type }) => type !== 'function');
  const types = builtIn.map(({ type }) => type);
  for (const value of listOf(include)) {
    const needed = INCLUDES[String(value)];
    if (value === 'reasoning.encrypted_content') continue;
    if (needed === undefined || !types.includes(needed)) return `Invalid value '${value}' in 'include'`;
  }
  if (max_tool_calls !== undefined && builtIn.length === 0) return "Unsupported parameter: 'max_tool_calls'";
  if (new Set(types).size < types.length) return 'Duplicate tool';
  for (const { type, container, vector_store_ids, user_location } of builtIn) {
    if (type === 'code_interpreter' && objectOf(container)?.type !== 'auto') return "Missing 'container'";
    if (type === 'file_search' && listOf(vector_store_ids).length === 0) return "Missing 'vector_store_ids'";
    if (!['code_interpreter', 'file_search', 'web_search'].includes(String(type)))
      return `Invalid value: '${type}'`;
    if (user_location !== undefined && objectOf(user_location)?.type !== 'approximate')
      return "Invalid 'user_location'";
  }
  return undefined;
};

const GEMINI_TOOLS = ['functionDeclarations', 'googleSearch', 'urlContext', 'codeExecution', 'fileSearch'];

export const geminiToolProblems = ({ path, body }: WireRequest, platform: 'gemini' | 'vertex'): string[] => {
  const tools = objectsIn(body.tools);
  const kinds = tools.flatMap((tool) => Object.keys(tool));
  const builtIn = kinds.filter((kind) => kind !== 'functionDeclarations');
  const problems = kinds
    .filter((kind) => !GEMINI_TOOLS.includes(kind))
    .map((kind) => `Unknown name "${kind}"`);
  const isMixed = kinds.length > builtIn.length && builtIn.length > 0;
  if (isMixed && (platform === 'vertex' || !/gemini-3/.test(path)))
    problems.push('Built-in tools and Function Calling cannot be combined in the same request.');
  const { includeServerSideToolInvocations: includes } = objectOf(body.toolConfig) ?? {};
  if (isMixed && includes !== true)
    problems.push('Please enable tool_config.include_server_side_tool_invocations to use Built-in tools.');
  if (builtIn.includes('fileSearch') && builtIn.length > 1)
    problems.push('File Search cannot be combined with other tools.');
  for (const tool of tools) {
    const options = Object.keys(objectOf(tool.googleSearch) ?? {});
    if (options.length > 0 && platform === 'gemini') problems.push(`Unknown name "${options[0]}"`);
  }
  return [...problems, ...geminiPartProblems(body)];
};

/** Every call that Gemini executed is followed by its result. */
const geminiPartProblems = ({ contents }: JsonObject): string[] => {
  const problems: string[] = [];
  for (const { parts } of objectsIn(contents)) {
    const open: string[] = [];
    for (const part of objectsIn(parts)) {
      if (part.executableCode) open.push('code');
      if (part.toolCall) open.push(String(objectOf(part.toolCall)?.id));
      const ended = part.codeExecutionResult
        ? 'code'
        : part.toolResponse && String(objectOf(part.toolResponse)?.id);
      if (typeof ended !== 'string') continue;
      if (!open.includes(ended)) problems.push(`result without its call: ${ended}`);
      else open.splice(open.indexOf(ended), 1);
    }
    problems.push(...open.map((id) => `call without its result: ${id}`));
  }
  return problems;
};
