import { isObject } from '../../../src/schema/endpoint.ts';
import { hasLoneSurrogate } from './lone-surrogates.ts';

/** The reason for which Bedrock would reject the body of ConverseStream: each rule is documented or reported. */

const FIELDS = [
  'messages',
  'system',
  'inferenceConfig',
  'toolConfig',
  'additionalModelRequestFields',
  'serviceTier',
];
const BLOCKS = ['text', 'image', 'document', 'toolUse', 'toolResult', 'reasoningContent', 'cachePoint'];
const ID = /^[a-zA-Z0-9_-]{1,64}$/;
const MISTRAL_ID = /^[a-zA-Z0-9]{9}$/;
const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const DOCUMENT_NAME = /^[A-Za-z0-9()[\]-]+( [A-Za-z0-9()[\]-]+)*$/;
const MOST_CACHE_POINTS = 4;

type Must = (holds: boolean, problem: string) => void;
type Block = Record<string, unknown>;

export const problemsOfConverse = (upstream: string, body: unknown): string[] => {
  const problems: string[] = [];
  const must: Must = (holds, problem) => {
    if (!holds) problems.push(problem);
  };
  if (!isObject(body)) return ['the body is not an object'];
  must(!hasLoneSurrogate(JSON.stringify(body)), 'the body contains a lone surrogate');
  for (const name of Object.keys(body)) must(FIELDS.includes(name), `the field ${name} is unknown`);
  const tools = toolNames(body.toolConfig, must);
  const messages = Array.isArray(body.messages) ? body.messages : [];
  must(messages.length > 0, 'no messages');
  const system = Array.isArray(body.system) ? body.system : [];
  for (const block of system) must('cachePoint' in block || isWritten(block.text), 'system: blank text');
  checkRoles(messages, must);
  checkCalls(messages, { tools, isMistral: upstream.includes('mistral') }, must);
  const all: Block[] = messages.flatMap(({ content }) => content);
  for (const block of all) checkBlock(block, upstream, must);
  const inner: Block[] = all.flatMap(({ toolResult }) => (isObject(toolResult) ? contentOf(toolResult) : []));
  for (const block of inner) {
    must(
      RESULT_BLOCKS.some((kind) => kind in block),
      `a block of a result with ${Object.keys(block)}`,
    );
    checkBlock(block, upstream, must);
  }
  const names = [...all, ...inner].flatMap(({ document }) => (isObject(document) ? [document.name] : []));
  checkInference(body.inferenceConfig, must);
  checkChoice(body, upstream, must);
  must(new Set(names).size === names.length, 'a document name is repeated');
  const points = [...system, ...all].filter((block) => 'cachePoint' in block).length;
  must(points <= MOST_CACHE_POINTS, `${points} cache points`);
  must(points === 0 || /claude|nova/.test(upstream), 'the model has no cache points');
  checkThinking(body, upstream, must);
  return problems;
};

const isWritten = (text: unknown): boolean => typeof text === 'string' && text.trim() !== '';

const contentOf = ({ content }: Block): Block[] => (Array.isArray(content) ? content : []);

const RESULT_BLOCKS = ['text', 'image', 'document'];
const INFERENCE = ['maxTokens', 'temperature', 'topP', 'stopSequences'];
const MOST_STOPS = 2500;

const checkInference = (config: unknown, must: Must): void => {
  if (config === undefined) return;
  const fields = isObject(config) ? config : {};
  const { maxTokens, temperature, topP, stopSequences: stops } = fields;
  for (const name of Object.keys(fields))
    must(INFERENCE.includes(name), `inferenceConfig.${name} is unknown`);
  must(maxTokens === undefined || Number(maxTokens) >= 1, 'maxTokens is at least 1');
  for (const value of [temperature, topP])
    must(value === undefined || (Number(value) >= 0 && Number(value) <= 1), 'sampling is between 0 and 1');
  if (stops === undefined) return;
  must(Array.isArray(stops) && stops.length <= MOST_STOPS, 'too many stop sequences');
  must(Array.isArray(stops) && stops.every((text) => text !== ''), 'an empty stop sequence');
};

/** Claude and Nova accept `any` and `tool`, Mistral Large accepts `any`; thinking excludes both. */
const checkChoice = (
  { toolConfig, additionalModelRequestFields: more }: Block,
  upstream: string,
  must: Must,
): void => {
  const choice = isObject(toolConfig) ? toolConfig.toolChoice : undefined;
  if (!isObject(toolConfig) || choice === undefined) return;
  const [kind = '', ...others] = isObject(choice) ? Object.keys(choice) : [];
  must(['auto', 'any', 'tool'].includes(kind) && others.length === 0, `toolChoice ${JSON.stringify(choice)}`);
  const named = isObject(choice) && isObject(choice.tool) ? choice.tool.name : undefined;
  const names = Array.isArray(toolConfig.tools) ? toolConfig.tools.map(({ toolSpec }) => toolSpec.name) : [];
  must(kind !== 'tool' || names.includes(named), `toolChoice names ${named}, which is not offered`);
  must(/claude|nova/.test(upstream) || kind !== 'tool', 'the model has no choice of a tool');
  must(/claude|nova|mistral-large/.test(upstream), 'the model has no toolChoice');
  const thinking = isObject(more) && isObject(more.thinking) ? more.thinking.type : undefined;
  must(
    kind === 'auto' || thinking === undefined || thinking === 'disabled',
    'Thinking may not be enabled when tool_choice forces tool use',
  );
};

const toolNames = (config: unknown, must: Must): Set<unknown> | undefined => {
  if (config === undefined) return undefined;
  const tools = isObject(config) && Array.isArray(config.tools) ? config.tools : [];
  must(tools.length > 0, 'toolConfig without tools');
  for (const { toolSpec } of tools) {
    must(NAME.test(toolSpec.name), `the tool name ${toolSpec.name} is refused`);
    must(toolSpec.description === undefined || isWritten(toolSpec.description), 'a blank description');
    must(toolSpec.inputSchema.json.type === 'object', 'a schema is not an object');
  }
  must(new Set(tools.map(({ toolSpec }) => toolSpec.name)).size === tools.length, 'a tool name is repeated');
  return new Set(tools.map(({ toolSpec }) => toolSpec.name));
};

const checkRoles = (messages: readonly { role: string; content: Block[] }[], must: Must): void => {
  for (const [index, { role, content }] of messages.entries()) {
    must(role === (index % 2 === 0 ? 'user' : 'assistant'), `messages.${index}: roles must alternate`);
    must(content.length > 0, `messages.${index}: no content`);
    if (content.some(({ document }) => document)) {
      must(
        content.some(({ text }) => text),
        `messages.${index}: a document without text`,
      );
    }
  }
};

type Rules = { tools: Set<unknown> | undefined; isMistral: boolean };

const checkCalls = (
  messages: readonly { content: Block[] }[],
  { tools, isMistral }: Rules,
  must: Must,
): void => {
  let open = new Set<unknown>();
  for (const [index, { content }] of messages.entries()) {
    const at = `messages.${index}`;
    for (const { toolResult } of content) {
      if (isObject(toolResult)) {
        must(open.delete(toolResult.toolUseId), `${at}: a result without a call`);
        must(contentOf(toolResult).length > 0, `${at}: an empty result`);
        const { status } = toolResult;
        must(status === undefined || status === 'success' || status === 'error', `${at}: status ${status}`);
      }
    }
    must(open.size === 0, `${at}: calls without results`);
    open = new Set();
    for (const { toolUse, toolResult } of content) {
      must(tools !== undefined || (!toolUse && !toolResult), `${at}: calls without toolConfig`);
      if (!isObject(toolUse)) continue;
      const id = String(toolUse.toolUseId);
      must((isMistral ? MISTRAL_ID : ID).test(id), `${at}: the id ${id} is refused`);
      must(isObject(toolUse.input), `${at}: input is not an object`);
      must(!open.has(id), `${at}: the id ${id} is repeated`);
      open.add(id);
    }
  }
  must(open.size === 0, 'calls without results at the end');
};

const checkBlock = (block: Block, upstream: string, must: Must): void => {
  const [kind = '', ...others] = Object.keys(block);
  must(BLOCKS.includes(kind) && others.length === 0, `a block with ${Object.keys(block).join(', ')}`);
  if ('text' in block) must(isWritten(block.text), 'blank text');
  const { image, document, reasoningContent } = block;
  if (isObject(image)) checkFile(image, ['png', 'jpeg', 'gif', 'webp'], must);
  if (isObject(document)) {
    must(DOCUMENT_NAME.test(String(document.name)), `document name ${document.name}`);
    checkFile(document, ['pdf', 'csv', 'doc', 'docx', 'xls', 'xlsx', 'html', 'txt', 'md'], must);
  }
  if (reasoningContent) must(upstream.includes('claude'), 'the model rejects reasoning');
};

/** The limit of 3.75 MB applies to each image. */
const LARGEST_IMAGE = 3.75 * 1024 * 1024;

const checkFile = ({ format, source }: Block, formats: readonly string[], must: Must): void => {
  must(formats.includes(String(format)), `the file format ${format}`);
  const bytes = isObject(source) ? source.bytes : undefined;
  must(typeof bytes === 'string' && bytes !== '', 'a file without bytes');
  must(String(bytes).length * 0.75 <= LARGEST_IMAGE || formats.includes('pdf'), 'an image above 3.75 MB');
};

const checkThinking = (
  { additionalModelRequestFields: fields, inferenceConfig: config }: Record<string, unknown>,
  upstream: string,
  must: Must,
): void => {
  const thinking = isObject(fields) ? fields.thinking : undefined;
  if (!isObject(thinking)) return;
  must(upstream.includes('claude'), 'the model has no thinking');
  if (thinking.type === 'disabled') return;
  must(isObject(config) && !('temperature' in config) && !('topP' in config), 'sampling with thinking');
  if (typeof thinking.budget_tokens !== 'number' || !isObject(config)) return;
  must(Number(config.maxTokens) > thinking.budget_tokens, 'maxTokens does not exceed the budget');
};
