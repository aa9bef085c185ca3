import { isObject } from '../../../src/schema/endpoint.ts';

/** Why Bedrock would reject the body of ConverseStream: each rule is documented or reported. */

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
  must(!/\\ud[89a-f]/i.test(JSON.stringify(body)), 'half a character');
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
  const names = all.flatMap(({ document }) => (isObject(document) ? [document.name] : []));
  must(new Set(names).size === names.length, 'a document name is there twice');
  const points = [...system, ...all].filter((block) => 'cachePoint' in block).length;
  must(points <= MOST_CACHE_POINTS, `${points} cache points`);
  must(points === 0 || /claude|nova/.test(upstream), 'the model has no cache points');
  checkThinking(body, upstream, must);
  return problems;
};

const isWritten = (text: unknown): boolean => typeof text === 'string' && text.trim() !== '';

const toolNames = (config: unknown, must: Must): Set<unknown> | undefined => {
  if (config === undefined) return undefined;
  const tools = isObject(config) && Array.isArray(config.tools) ? config.tools : [];
  must(tools.length > 0, 'toolConfig without tools');
  for (const { toolSpec } of tools) {
    must(NAME.test(toolSpec.name), `the tool name ${toolSpec.name} is refused`);
    must(toolSpec.description === undefined || isWritten(toolSpec.description), 'a blank description');
    must(toolSpec.inputSchema.json.type === 'object', 'a schema that is no object');
  }
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
        must(Array.isArray(toolResult.content) && toolResult.content.length > 0, `${at}: an empty result`);
      }
    }
    must(open.size === 0, `${at}: calls without results`);
    open = new Set();
    for (const { toolUse, toolResult } of content) {
      must(tools !== undefined || (!toolUse && !toolResult), `${at}: calls without toolConfig`);
      if (!isObject(toolUse)) continue;
      const id = String(toolUse.toolUseId);
      must((isMistral ? MISTRAL_ID : ID).test(id), `${at}: the id ${id} is refused`);
      must(isObject(toolUse.input), `${at}: input is no object`);
      must(!open.has(id), `${at}: the id ${id} is there twice`);
      open.add(id);
    }
  }
  must(open.size === 0, 'calls without results at the end');
};

const checkBlock = (block: Block, upstream: string, must: Must): void => {
  const [kind = '', ...others] = Object.keys(block);
  must(BLOCKS.includes(kind) && others.length === 0, `a block with ${Object.keys(block).join(', ')}`);
  if ('text' in block) must(isWritten(block.text), 'blank text');
  const { document, reasoningContent } = block;
  if (isObject(document)) must(DOCUMENT_NAME.test(String(document.name)), `document name ${document.name}`);
  if (reasoningContent) must(upstream.includes('claude'), 'the model rejects reasoning');
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
