import { listOf, objectOf } from '../../../src/models/wire/read.ts';
import type { WireRequest } from '../../../src/models/wire/wire.ts';
import { isObject } from '../../../src/schema/endpoint.ts';
import type { JsonObject } from '../../../src/schema/json.ts';
import { hasLoneSurrogate } from './lone-surrogates.ts';
import {
  anthropicBlockProblems,
  anthropicToolProblems,
  isServerBlock,
  isServerTool,
} from './strict-provider-tools.ts';
import { problemsOfClosed, problemsOfSchema } from './strict-schema.ts';

/**
 * Rejects requests that the Messages API, or some services with the same protocol, are documented or reported to
 * reject. Returns the reasons with the messages of the service.
 */
export const refusalsOf = (request: WireRequest): string[] => {
  const { headers, body, path } = request;
  const problems = [...anthropicToolProblems(request), ...anthropicBlockProblems(request)];
  const check = (holds: boolean, problem: string): void => {
    if (!holds) problems.push(problem);
  };
  check(path === 'messages', `unknown path ${path}`);
  check(headers['anthropic-version'] === '2023-06-01', 'anthropic-version: header is required');
  for (const field of Object.keys(body)) check(FIELDS.has(field), `${field}: Extra inputs are not permitted`);
  const written = JSON.stringify(body);
  check(!hasLoneSurrogate(written), 'The request body is not valid JSON: no low surrogate in string');
  check(
    written.split('"cache_control"').length <= 5,
    'A maximum of 4 blocks with cache_control may be provided',
  );
  const messages = listOf(body.messages).map((message) => objectOf(message) ?? {});
  checkLimits(body, check);
  for (const block of listOf(body.system)) checkBlock(objectOf(block) ?? {}, 'system', check);
  checkMessages(messages, check);
  checkThinking(body, headers, messages, check);
  checkChoice(body, check);
  checkFormat(body, check);
  const names = new Set<unknown>();
  for (const tool of listOf(body.tools)) {
    const { name, description, input_schema } = objectOf(tool) ?? {};
    if (isServerTool(objectOf(tool) ?? {})) continue;
    check(typeof name === 'string' && NAME.test(name), 'tools.name: String should match pattern');
    check(
      description === undefined || description !== '',
      'tools.description: String should have at least 1 character',
    );
    for (const problem of problemsOfSchema(input_schema)) check(false, `tools.input_schema: ${problem}`);
    for (const key of Object.keys(objectOf(objectOf(input_schema)?.properties) ?? {}))
      check(KEY.test(key), 'tools.input_schema.properties: Property keys should match pattern');
    check(!names.has(name), 'tools: Tool names must be unique');
    names.add(name);
  }
  return problems;
};

type Check = (holds: boolean, problem: string) => void;

const FIELDS = new Set([
  'model',
  'max_tokens',
  'temperature',
  'top_p',
  'thinking',
  'output_config',
  'system',
  'messages',
  'tools',
  'tool_choice',
  'container',
  'stream',
  'stop_sequences',
  'service_tier',
]);
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const KEY = /^[a-zA-Z0-9_.-]{1,64}$/;
const ID = /^[a-zA-Z0-9_-]+$/;

const checkChoice = ({ model, tools, tool_choice, thinking }: JsonObject, check: Check): void => {
  if (tool_choice === undefined) return;
  const { type, name, disable_parallel_tool_use: single, ...rest } = objectOf(tool_choice) ?? {};
  for (const field of Object.keys(rest)) check(false, `tool_choice.${field}: Extra inputs are not permitted`);
  check(single === undefined || type !== 'none', 'tool_choice.none.disable_parallel_tool_use: Extra inputs');
  check(['auto', 'none', 'any', 'tool'].includes(String(type)), 'tool_choice: Input tag');
  check(Array.isArray(tools), 'tool_choice may only be specified while providing tools');
  const names = listOf(tools).map((tool) => objectOf(tool)?.name);
  check((type === 'tool') === names.includes(String(name)), `Tool '${name}' not found in provided tools`);
  const forces = type === 'any' || type === 'tool';
  const thinks = objectOf(thinking)?.type;
  check(
    !forces || thinks === undefined || thinks === 'disabled',
    'Thinking may not be enabled when tool_choice forces tool use',
  );
  check(
    !forces || !/claude-(sonnet-5-5|opus-5-5|fable-5-1)/.test(String(model)),
    'tool_choice forces tool use',
  );
};

/** Models that accept one of the two settings, but not both. */
const ONE_OF_BOTH = /claude-(opus-4-[1-9](?!\d)|(sonnet|haiku)-4-[5-9]|(opus|sonnet|haiku|fable)-[5-9])/;

const checkLimits = (body: JsonObject, check: Check): void => {
  const { model, max_tokens, thinking, temperature, top_p, stop_sequences } = body;
  check(
    temperature === undefined || top_p === undefined || !ONE_OF_BOTH.test(String(model)),
    '`temperature` and `top_p` cannot both be specified for this model. Please use only one.',
  );
  for (const text of listOf(stop_sequences))
    check(String(text).trim() !== '', 'stop_sequences: each stop sequence must contain non-whitespace');
  check(Number.isInteger(max_tokens) && Number(max_tokens) > 0, 'max_tokens: Field required');
  const { type, budget_tokens } = objectOf(thinking) ?? {};
  if (type === 'enabled') {
    check(
      Number(budget_tokens) >= 1024,
      'thinking.budget_tokens: Input should be greater than or equal to 1024',
    );
    check(
      Number(max_tokens) > Number(budget_tokens),
      '`max_tokens` must be greater than `thinking.budget_tokens`',
    );
  } else check(budget_tokens === undefined, 'thinking.budget_tokens: Extra inputs are not permitted');
  if (type !== undefined && type !== 'disabled') {
    check(temperature === undefined, '`temperature` may only be set to 1 when thinking is enabled');
    check(top_p === undefined, '`top_p` must be unset when thinking is enabled');
  }
  check(
    temperature === undefined || (Number(temperature) >= 0 && Number(temperature) <= 1),
    'temperature: range: 0..1',
  );
};

/** The schema of a completion: its objects must be closed, and some keywords are unsupported. */
const checkFormat = ({ output_config, messages }: JsonObject, check: Check): void => {
  const { effort, format, ...rest } = objectOf(output_config) ?? {};
  for (const field of Object.keys(rest))
    check(false, `output_config.${field}: Extra inputs are not permitted`);
  check(
    effort === undefined || ['low', 'medium', 'high', 'xhigh', 'max'].includes(String(effort)),
    'output_config.effort: Input should be low, medium, high, xhigh or max',
  );
  if (format === undefined) return;
  const { type, schema, ...more } = objectOf(format) ?? {};
  check(type === 'json_schema' && Object.keys(more).length === 0, 'output_config.format: Input tag');
  for (const problem of problemsOfClosed(schema)) check(false, `output_config.format.schema: ${problem}`);
  const last = objectOf(listOf(messages).at(-1)) ?? {};
  check(
    last.role !== 'assistant' || contentOf(last).at(-1)?.type !== 'text',
    'Prefilling is not supported with output_config.format',
  );
};

const contentOf = ({ content }: JsonObject): JsonObject[] =>
  listOf(content).map((block) => objectOf(block) ?? {});

export const isThinking = ({ type }: JsonObject): boolean =>
  type === 'thinking' || type === 'redacted_thinking';

const checkMessages = (messages: readonly JsonObject[], check: Check): void => {
  check(messages.length > 0, 'messages: at least one message is required');
  check(messages[0]?.role === 'user', 'messages: first message must use the "user" role');
  const ids = new Set<unknown>();
  for (const [index, message] of messages.entries()) {
    const at = `messages.${index}`;
    const content = contentOf(message);
    check(message.role !== messages[index - 1]?.role, `${at}: roles must alternate`);
    check(content.length > 0, `${at}: all messages must have non-empty content`);
    for (const block of content) checkBlock(block, at, check);
    const called = index === 0 ? [] : callsOf(messages[index - 1] ?? {});
    const results = content
      .filter(({ type }) => type === 'tool_result')
      .map(({ tool_use_id }) => tool_use_id);
    if (message.role === 'assistant') {
      check(results.length === 0, `${at}: tool_result in a message of the assistant`);
      for (const id of callsOf(message)) {
        check(!ids.has(id), `${at}: \`tool_use\` ids must be unique`);
        ids.add(id);
      }
      const last = content.at(-1);
      check(
        !last || !isThinking(last),
        `${at}: The final block in an assistant message cannot be \`thinking\``,
      );
      checkOrder(content, at, check);
      if (index === messages.length - 1) {
        check(last?.type !== 'tool_use', `${at}: \`tool_use\` ids were found without \`tool_result\` blocks`);
        const { text } = last ?? {};
        check(
          typeof text !== 'string' || text === text.trimEnd(),
          'final assistant content cannot end with whitespace',
        );
      }
    } else {
      const first = content.slice(0, called.length);
      check(
        first.every(({ type }) => type === 'tool_result'),
        `${at}: tool_result blocks must come first`,
      );
      check(
        called.length === results.length && new Set([...called, ...results]).size === called.length,
        `${at}: \`tool_use\` ids and \`tool_result\` blocks do not match: ${called} ${results}`,
      );
    }
  }
};

const callsOf = (message: JsonObject): unknown[] =>
  contentOf(message)
    .filter(({ type }) => type === 'tool_use')
    .map(({ id }) => id);

const checkOrder = (content: readonly JsonObject[], at: string, check: Check): void => {
  for (const [index, { type }] of content.entries()) {
    const next = content[index + 1]?.type;
    if (type === 'tool_use') check(next !== 'text', `${at}: \`tool_use\` is followed by text`);
  }
};

/** The fields of each block, apart from `type` and `cache_control`. */
const BLOCK_FIELDS: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['text', ['text', 'citations']],
  ['tool_use', ['id', 'name', 'input']],
  ['tool_result', ['tool_use_id', 'content', 'is_error']],
  ['image', ['source']],
  ['document', ['source', 'title', 'context', 'citations']],
  ['thinking', ['thinking', 'signature']],
  ['redacted_thinking', ['data']],
]);

/** The limit applies to the base64 of an image. */
const LARGEST_IMAGE = 5 * 1024 * 1024;

/** Base64 of the first bytes of each type. */
const FIRST_BYTES: readonly [mediaType: string, base64: string][] = [
  ['image/png', 'iVBORw0KGgo'],
  ['image/jpeg', '/9j/'],
  ['image/gif', 'R0lGOD'],
  ['image/webp', 'UklGR'],
];

const checkImage = ({ type, media_type, data, url }: JsonObject, at: string, check: Check): void => {
  if (type === 'url') {
    check(/^https?:/.test(String(url)), `${at}.image.source.url`);
    return;
  }
  const bytes = String(data);
  check(type === 'base64' && bytes !== '', `${at}.image.source.data`);
  check(/^image\/(jpeg|png|gif|webp)$/.test(String(media_type)), `${at}.image.source.media_type`);
  check(
    bytes.length <= LARGEST_IMAGE,
    `${at}.image.source.base64: image exceeds 5 MB maximum: ${bytes.length} bytes > ${LARGEST_IMAGE} bytes`,
  );
  const [found = media_type] = FIRST_BYTES.find(([, start]) => bytes.startsWith(start)) ?? [];
  check(
    found === media_type,
    `${at}: The image was specified using the ${media_type} media type, but the image appears to be a ${found} image`,
  );
};

const checkBlock = (block: JsonObject, at: string, check: Check): void => {
  const { type, text, source, title } = block;
  const { type: from, media_type, data, url } = objectOf(source) ?? {};
  const fields = BLOCK_FIELDS.get(type);
  for (const field of fields ? Object.keys(block) : [])
    check(
      field === 'type' || field === 'cache_control' || fields?.includes(field) === true,
      `${at}.${type}.${field}: Extra inputs are not permitted`,
    );
  switch (type) {
    case 'text':
      check(typeof text === 'string' && text.trim() !== '', `${at}: text content blocks must be non-empty`);
      break;
    case 'tool_use':
      check(
        typeof block.id === 'string' && ID.test(block.id),
        `${at}.tool_use.id: String should match pattern`,
      );
      check(
        typeof block.name === 'string' && NAME.test(block.name),
        `${at}.tool_use.name: String should match pattern`,
      );
      check(isObject(block.input), `${at}.tool_use.input: Input should be a valid dictionary`);
      break;
    case 'tool_result':
      if (Array.isArray(block.content)) {
        check(block.content.length > 0, `${at}: empty tool_result`);
        for (const inner of listOf(block.content).map(objectOf)) {
          check(['text', 'image', 'document'].includes(String(inner?.type)), `${at}: content of tool_result`);
          checkBlock(inner ?? {}, `${at}.tool_result`, check);
        }
      } else
        check(block.content === undefined || String(block.content).trim() !== '', `${at}: blank tool_result`);
      break;
    case 'image':
      checkImage(objectOf(source) ?? {}, at, check);
      break;
    case 'document':
      check(from !== 'base64' || media_type === 'application/pdf', `${at}.document.source.media_type`);
      check(
        from !== 'text' || (typeof data === 'string' && data.trim() !== ''),
        `${at}.document.source.data is blank`,
      );
      check(from !== 'url' || typeof url === 'string', `${at}.document.source.url`);
      check(
        title === undefined || (typeof title === 'string' && title.length > 0 && title.length <= 500),
        `${at}.title`,
      );
      break;
    case 'thinking':
      check(typeof block.thinking === 'string', `${at}.thinking: Field required`);
      check(typeof block.signature === 'string', `${at}.thinking.signature: Field required`);
      check(block.cache_control === undefined, `${at}: thinking blocks cannot have cache_control`);
      break;
    case 'redacted_thinking':
      check(typeof block.data === 'string', `${at}.data: Field required`);
      check(block.cache_control === undefined, `${at}: thinking blocks cannot have cache_control`);
      break;
    default:
      check(isServerBlock(block), `${at}: Input tag '${type}' does not match any of the expected tags`);
  }
};

/**
 * The assistant messages since the last user input, for both cases: results with other content begin a turn, or do not.
 */
const turnsOf = (messages: readonly JsonObject[]): JsonObject[][] => {
  const isResult = ({ type }: JsonObject): boolean => type === 'tool_result';
  return [
    (message: JsonObject) => contentOf(message).some((block) => !isResult(block)),
    (message: JsonObject) => !contentOf(message).some(isResult),
  ].map((isBegin) =>
    messages
      .slice(messages.findLastIndex((message) => message.role === 'user' && isBegin(message)) + 1)
      .filter(({ role }) => role === 'assistant'),
  );
};

const WHEN_ASKED = /claude-(3|sonnet-4|opus-4|haiku-4)/;
const BINDING = /claude-(fable-5-1|opus-5-5|sonnet-5-5|haiku-5-5)/;

const checkThinking = (
  { model, thinking }: JsonObject,
  headers: WireRequest['headers'],
  messages: readonly JsonObject[],
  check: Check,
): void => {
  const { type, block_binding } = objectOf(thinking) ?? {};
  const name = String(model);
  for (const turn of turnsOf(messages)) {
    const [first] = turn.map(contentOf);
    if (type === 'enabled' && first) {
      check(
        first.slice(0, 1).every(isThinking),
        'Expected `thinking` or `redacted_thinking`, but found something else',
      );
    }
    if (type === 'disabled' || (type === undefined && WHEN_ASKED.test(name))) {
      const isFree = turn.every((message) => !contentOf(message).some(isThinking));
      check(
        isFree,
        'When thinking is disabled, an `assistant` message in the final position cannot contain `thinking`',
      );
    }
  }
  const hasBlocks = messages.some((message) => contentOf(message).some(isThinking));
  const drops = objectOf(block_binding)?.prefix_mismatch_behavior === 'drop_block';
  if (hasBlocks && BINDING.test(name)) check(drops, 'The block is bound to a different conversation');
  if (block_binding !== undefined) {
    check(BINDING.test(name), 'thinking.block_binding: not supported by this model');
    check(
      /thinking-binding-controls/.test(headers['anthropic-beta'] ?? ''),
      'block_binding needs a beta header',
    );
  }
  const isPrefilled = messages.at(-1)?.role === 'assistant';
  if (isPrefilled)
    check(!/claude-(opus|sonnet|haiku|fable)-(4-[6-9]|[5-9])/.test(name), 'model does not support prefill');
  if (isPrefilled && type === 'enabled') check(false, 'prefill is not possible with thinking');
};
