import { isObject } from '../../../src/schema/endpoint.ts';
import { problemsOfOutput, problemsOfSchema } from './strict-schema.ts';

/**
 * The reasons for which Mistral would reject the body of a request: each rule is from the API reference, where a
 * request has no additional properties, or from the validators of `mistral-common`, which the service runs.
 */
export const problemsOfMistral = (body: unknown): string[] => {
  if (!isObject(body)) return ['the body is not an object'];
  const problems: string[] = [];
  const must: Must = (holds, problem) => {
    if (!holds) problems.push(problem);
  };
  for (const name of Object.keys(body)) must(REQUEST.has(name), `the field ${name} is unknown`);
  must(typeof body.model === 'string' && body.model !== '', 'no model');
  checkSettings(body, must);
  const names = checkTools(body, must);
  checkChoice(body, names, must);
  const messages = Array.isArray(body.messages) ? body.messages : [];
  must(messages.length > 0, 'Conversation must have at least one message');
  checkOrder(messages, must);
  checkCalls(messages, must);
  for (const [index, message] of messages.entries())
    checkMessage(message, { at: `messages.${index}`, isLast: index === messages.length - 1 }, must);
  return problems;
};

type Must = (holds: boolean, problem: string) => void;
type Message = Record<string, unknown>;

const setOf = (names: string): ReadonlySet<string> => new Set(names.split(' '));

/** The fields of `ChatCompletionStreamRequest`. */
const REQUEST = setOf(
  'model messages stream temperature top_p max_tokens stop random_seed metadata response_format tools tool_choice ' +
    'parallel_tool_calls presence_penalty frequency_penalty n prediction prompt_mode reasoning_effort guardrails ' +
    'safe_prompt',
);

/** The fields of `SystemMessage`, `UserMessage`, `AssistantMessage` and `ToolMessage`. */
const MESSAGES: ReadonlyMap<unknown, ReadonlySet<string>> = new Map([
  ['system', setOf('role content')],
  ['user', setOf('role content')],
  ['assistant', setOf('role content tool_calls prefix')],
  ['tool', setOf('role content tool_call_id name')],
]);

/** Roles that may follow a role. */
const NEXT: ReadonlyMap<unknown, readonly unknown[]> = new Map([
  ['system', ['system', 'user', 'assistant']],
  ['user', ['user', 'assistant', 'system']],
  ['assistant', ['assistant', 'user', 'tool']],
  ['tool', ['assistant', 'tool']],
]);

const CALL_ID = /^[a-zA-Z0-9]{9}$/;
const FUNCTION_NAME = /^[a-zA-Z0-9_-]{1,64}$/;

const between = (value: unknown, least: number, most: number): boolean =>
  value === undefined || (typeof value === 'number' && value >= least && value <= most);

const checkSettings = (body: Message, must: Must): void => {
  const { reasoning_effort: effort, response_format: format, random_seed: seed, max_tokens: limit } = body;
  must(effort === undefined || effort === 'none' || effort === 'high', `the effort ${effort} is unknown`);
  must(!/^magistral/.test(String(body.model)) || effort === undefined, 'magistral has no effort');
  must(between(body.temperature, 0, 1.5), 'temperature is between 0 and 1.5');
  must(between(body.top_p, 0, 1), 'top_p is between 0 and 1');
  must(seed === undefined || (Number.isInteger(seed) && Number(seed) >= 0), 'random_seed is at least 0');
  must(limit === undefined || (Number.isInteger(limit) && Number(limit) >= 0), 'max_tokens is at least 0');
  if (format === undefined) return;
  for (const problem of problemsOfOutput(isObject(format) ? format.json_schema : undefined))
    must(false, `response_format: ${problem}`);
};

const checkTools = ({ tools }: Message, must: Must): ReadonlySet<unknown> => {
  const names = new Set<unknown>();
  if (tools === undefined) return names;
  must(Array.isArray(tools) && tools.length > 0, 'tools must be a list that is not empty');
  for (const { type, function: declared } of Array.isArray(tools) ? tools : []) {
    must(
      type === 'function' && FUNCTION_NAME.test(declared.name),
      `the tool name ${declared.name} is refused`,
    );
    must(!names.has(declared.name), `the tool name ${declared.name} is repeated`);
    for (const problem of problemsOfSchema(declared.parameters))
      must(false, `Invalid tool schema: ${problem}`);
    names.add(declared.name);
  }
  return names;
};

const checkChoice = ({ tool_choice: choice }: Message, names: ReadonlySet<unknown>, must: Must): void => {
  if (choice === undefined) return;
  const isNamed = isObject(choice) && isObject(choice.function) && names.has(choice.function.name);
  must(['auto', 'none', 'any', 'required'].includes(String(choice)) || isNamed, 'tool_choice is unknown');
  must(names.size > 0, 'tool_choice without tools');
};

const checkOrder = (messages: readonly Message[], must: Must): void => {
  for (const [index, { role }] of messages.entries()) {
    const previous = messages[index - 1]?.role;
    const follows = index === 0 || NEXT.get(previous)?.includes(role) === true;
    must(follows, `messages.${index}: Unexpected role '${role}' after role '${previous}'`);
  }
  const last = messages.at(-1);
  must(last?.role !== 'system', 'Expected last role User or Tool for serving but got system');
  must(
    last?.role !== 'assistant' || last.prefix === true,
    'Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant',
  );
  if (messages.length === 1)
    must(last?.role === 'user' || last?.role === 'system', 'Conversation must start with a user message');
};

/** Each call has one result before the next completion, and call ids are unique within a request. */
const checkCalls = (messages: readonly Message[], must: Must): void => {
  const open = new Set<unknown>();
  for (const [index, { role, tool_calls: calls, tool_call_id: id }] of messages.entries()) {
    const at = `messages.${index}`;
    if (role === 'tool') must(open.delete(id), `${at}: ${id} is not an open call`);
    else must(open.size === 0, `${at}: Not the same number of function calls and responses`);
    for (const call of Array.isArray(calls) ? calls : []) {
      must(CALL_ID.test(call.id), `${at}: Tool call id was ${call.id} but must have a length of 9`);
      must(!open.has(call.id), `${at}: the id ${call.id} is repeated`);
      must(FUNCTION_NAME.test(call.function.name), `${at}: Function name was ${call.function.name}`);
      must(isObject(JSON.parse(call.function.arguments)), `${at}: arguments that are no object`);
      open.add(call.id);
    }
  }
  must(open.size === 0, 'Not the same number of function calls and responses');
};

type Place = { at: string; isLast: boolean };

const checkMessage = (message: Message, { at, isLast }: Place, must: Must): void => {
  const { role, content, tool_calls: calls, prefix } = message;
  const fields = MESSAGES.get(role);
  must(fields !== undefined, `${at}: role ${role}`);
  for (const name of Object.keys(message))
    must(fields?.has(name) === true, `${at}: the field ${name} is unknown`);
  if (Array.isArray(content)) for (const part of content) checkPart(part, { at, isLast }, must);
  else must(typeof content === 'string', `${at}: content is no text`);
  if (role !== 'assistant') return;
  const isEmpty = typeof content === 'string' && content === '';
  must(!isEmpty || Array.isArray(calls), `${at}: Assistant message must have either content or tool_calls`);
  must(prefix === undefined || isLast, `${at}: Assistant message with prefix True must be last message`);
};

const IMAGE = /^(https?:|data:image\/(png|jpeg|webp|gif);base64,)/;
const DOCUMENT = /^(https?:|data:application\/pdf;base64,)/;

/** `text`, `image_url`, `document_url` and `input_audio` of `ContentChunk`. */
const checkPart = (part: Message, { at }: Place, must: Must): void => {
  const { type, text, image_url: image, document_url: document, input_audio: audio } = part;
  const url = isObject(image) ? image.url : image;
  const forms: Record<string, boolean> = {
    text: typeof text === 'string',
    image_url: IMAGE.test(String(url)),
    document_url: DOCUMENT.test(String(document)),
    input_audio: typeof audio === 'string' && audio !== '',
  };
  must(forms[String(type)] === true, `${at}: a part of type ${type}: ${JSON.stringify(part).slice(0, 100)}`);
};
