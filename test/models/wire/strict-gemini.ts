import { listOf, objectOf, textOf } from '../../../src/models/wire/read.ts';
import type { WireRequest } from '../../../src/models/wire/wire.ts';
import { hasLoneSurrogate } from './lone-surrogates.ts';
import { geminiToolProblems } from './strict-provider-tools.ts';

/**
 * The reason for which the Gemini API, or Vertex AI, is documented or reported to reject a request; undefined if it
 * accepts it.
 */
export const refusalOfGemini = (request: WireRequest, platform: 'gemini' | 'vertex'): string | undefined => {
  const { path, body } = request;
  const refuse = new Refusals();
  for (const problem of geminiToolProblems(request, platform)) refuse.unless(false, problem);
  refuse.unless(
    /^[\w@%./-]+:streamGenerateContent\?alt=sse$/.test(path) && !path.includes('..'),
    `path ${path}`,
  );
  const known = [
    'contents',
    'systemInstruction',
    'tools',
    'toolConfig',
    'generationConfig',
    'serviceTier',
    'continuationToken',
  ];
  for (const key of Object.keys(body)) refuse.unless(known.includes(key), `Unknown name "${key}"`);
  refuse.unless(!hasLoneSurrogate(JSON.stringify(body)), 'the body contains a lone surrogate');
  if (body.systemInstruction !== undefined)
    checkParts(refuse, listOf(objectOf(body.systemInstruction)?.parts), 'system', platform);
  checkConfig(refuse, objectOf(body.generationConfig) ?? {}, request);
  checkContents(refuse, listOf(body.contents), String(path), platform);
  for (const tool of listOf(body.tools))
    for (const declaration of listOf(objectOf(tool)?.functionDeclarations))
      checkDeclaration(refuse, declaration);
  if (objectOf(body.toolConfig)?.functionCallingConfig !== undefined) checkChoice(refuse, body);
  return refuse.first;
};

const checkChoice = (refuse: Refusals, { tools, toolConfig }: WireRequest['body']): void => {
  const { mode, allowedFunctionNames } = objectOf(objectOf(toolConfig)?.functionCallingConfig) ?? {};
  const declared = JSON.stringify(tools);
  refuse.unless(tools !== undefined, 'Function calling config is set without function_declarations');
  refuse.unless(['AUTO', 'ANY', 'NONE'].includes(String(mode)), `mode ${mode}`);
  refuse.unless(allowedFunctionNames === undefined || mode === 'ANY', 'allowed_function_names without ANY');
  for (const name of listOf(allowedFunctionNames))
    refuse.unless(declared.includes(JSON.stringify(name)), `${name} is not declared`);
};

class Refusals {
  first: string | undefined;
  unless(holds: boolean, why: string): void {
    if (!holds) this.first ??= why;
  }
}

type Platform = 'gemini' | 'vertex';

const isGemini3 = (path: string): boolean => /gemini-3/.test(path);

const CONFIG_FIELDS = [
  ...['candidateCount', 'stopSequences', 'maxOutputTokens', 'temperature', 'topP', 'topK', 'seed'],
  ...['presencePenalty', 'frequencyPenalty', 'responseMimeType', 'responseSchema', 'responseJsonSchema'],
  ...['responseModalities', 'responseLogprobs', 'logprobs', 'thinkingConfig', 'mediaResolution'],
];

const checkConfig = (
  refuse: Refusals,
  config: Record<string, unknown>,
  { path, body }: WireRequest,
): void => {
  for (const key of Object.keys(config))
    refuse.unless(CONFIG_FIELDS.includes(key), `Unknown name "${key}" at 'generation_config'`);
  refuse.unless(listOf(config.stopSequences).length <= 5, 'at most 5 stop sequences');
  const { thinkingBudget, thinkingLevel } = objectOf(config.thinkingConfig) ?? {};
  refuse.unless(
    thinkingBudget === undefined || thinkingLevel === undefined,
    'You can only set only one of thinking budget and thinking level.',
  );
  refuse.unless(
    thinkingLevel === undefined || !/gemini-[12]/.test(path),
    'Thinking level is not supported for this model.',
  );
  const { responseMimeType: type, responseJsonSchema: schema } = config;
  refuse.unless(
    schema === undefined || objectOf(schema) !== undefined,
    'response_json_schema is not an object',
  );
  refuse.unless(
    schema === undefined || type === 'application/json',
    'response_json_schema needs the response mime type application/json',
  );
  refuse.unless(
    type !== 'application/json' || body.tools === undefined || isGemini3(path),
    "Function calling with a response mime type: 'application/json' is unsupported",
  );
};

const checkContents = (
  refuse: Refusals,
  contents: readonly unknown[],
  path: string,
  platform: Platform,
): void => {
  refuse.unless(contents.length > 0, 'contents is not specified');
  const isNewer = isGemini3(path);
  for (const [index, given] of contents.entries()) {
    const { role, parts: list, ...rest } = objectOf(given) ?? {};
    const parts = listOf(list);
    refuse.unless(Object.keys(rest).length === 0, 'unknown field of a content');
    refuse.unless(role === 'user' || role === 'model', 'role must be user or model');
    const hasFiles = parts.some((part) => objectOf(objectOf(part)?.functionResponse)?.parts !== undefined);
    refuse.unless(isNewer || !hasFiles, 'Multimodal function responses are not supported for this model');
    checkParts(refuse, parts, role === 'model' ? 'model' : 'user', platform);
    const calls = parts
      .map((part) => objectOf(objectOf(part)?.functionCall))
      .filter((call) => call !== undefined);
    const previous = objectOf(contents[index - 1]);
    const next = listOf(objectOf(contents[index + 1])?.parts);
    const responses = next
      .map((part) => objectOf(objectOf(part)?.functionResponse))
      .filter((response) => response !== undefined);
    if (calls.length > 0) {
      refuse.unless(previous?.role === 'user', 'function call turn comes immediately after a user turn');
      refuse.unless(
        JSON.stringify(calls.map(({ id, name }) => [id, name])) ===
          JSON.stringify(responses.map(({ id, name }) => [id, name])),
        'the number of function response parts is equal to the number of function call parts',
      );
      const first = parts.map(objectOf).find((part) => part?.functionCall !== undefined);
      refuse.unless(
        !isNewer || typeof first?.thoughtSignature === 'string',
        'Function call is missing a thought_signature',
      );
    } else
      refuse.unless(
        responses.length === 0,
        'function response turn comes immediately after a function call turn',
      );
  }
};

const KINDS = [
  ...['text', 'inlineData', 'fileData', 'functionCall', 'functionResponse'],
  ...['executableCode', 'codeExecutionResult', 'toolCall', 'toolResponse'],
];

/** Documented file types; services reject images, archives and JSON in other forms. */
const FILES =
  /^(image\/(png|jpeg|webp|heic|heif)|application\/pdf|(text|audio|video)\/[\w.+-]+(; *charset=[\w-]+)?)$/;

const checkParts = (
  refuse: Refusals,
  parts: readonly unknown[],
  role: 'system' | 'user' | 'model',
  platform: Platform,
): void => {
  refuse.unless(parts.length > 0, 'contents.parts must not be empty');
  for (const given of parts) {
    const part = objectOf(given) ?? {};
    const { thought, thoughtSignature, ...data } = part;
    const [kind = '', ...more] = Object.keys(data);
    refuse.unless(KINDS.includes(kind) && more.length === 0, `part with ${Object.keys(part)}`);
    refuse.unless(
      role === 'model' || (thought === undefined && thoughtSignature === undefined),
      'thought of a user',
    );
    if (kind === 'text')
      refuse.unless(
        (textOf(part.text) ?? '').trim() !== '' || thoughtSignature !== undefined,
        'empty text parameter',
      );
    if (kind === 'functionCall' || kind === 'functionResponse')
      checkCall(refuse, objectOf(part[kind]) ?? {}, kind === 'functionCall' ? 'args' : 'response', platform);
    refuse.unless(kind !== 'functionCall' || role === 'model', 'call of a user');
    refuse.unless(kind !== 'functionResponse' || role === 'user', 'response of a model');
    const file = objectOf(part.inlineData) ?? objectOf(part.fileData);
    if (file) {
      refuse.unless(FILES.test(String(file.mimeType)), `Unsupported MIME type: ${file.mimeType}`);
      refuse.unless(!String(file.fileUri).startsWith('data:'), 'unsupported file URI');
    }
  }
};

const checkCall = (
  refuse: Refusals,
  { id, name, parts, ...rest }: Record<string, unknown>,
  value: 'args' | 'response',
  platform: Platform,
): void => {
  refuse.unless(parts === undefined || (value === 'response' && listOf(parts).length > 0), 'parts of a call');
  for (const part of listOf(parts)) {
    const { inlineData, ...more } = objectOf(part) ?? {};
    const { mimeType, data } = objectOf(inlineData) ?? {};
    refuse.unless(Object.keys(more).length === 0 && typeof data === 'string', 'part of a function response');
    refuse.unless(
      /^(image\/(png|jpeg|webp)|application\/pdf|text\/plain)$/.test(String(mimeType)),
      `Unsupported mime type ${mimeType} in a function response`,
    );
  }
  refuse.unless(/^[A-Za-z_][\w.:-]{0,63}$/.test(String(name)), `invalid function name ${name}`);
  refuse.unless((id !== undefined) === (platform === 'gemini'), 'id of a call');
  refuse.unless(
    Object.keys(rest).join() === value && objectOf(rest[value]) !== undefined,
    `${value} is an object`,
  );
};

const checkDeclaration = (refuse: Refusals, given: unknown): void => {
  const { name, description, parameters, ...rest } = objectOf(given) ?? {};
  refuse.unless(Object.keys(rest).length === 0, 'unknown field of a declaration');
  refuse.unless(/^[A-Za-z_][\w.:-]{0,63}$/.test(String(name)), `invalid function name ${name}`);
  refuse.unless(typeof description === 'string', 'description');
  if (parameters === undefined) return;
  refuse.unless(objectOf(parameters)?.type === 'object', 'parameters are an object');
  checkSchema(refuse, parameters);
};

const FIELDS = 'type format description nullable enum items properties required anyOf minLength'.split(' ');
const TYPES = 'string number integer boolean array object null'.split(' ');

const checkSchema = (refuse: Refusals, given: unknown): void => {
  const schema = objectOf(given);
  if (!schema) {
    refuse.unless(false, 'a schema is an object');
    return;
  }
  const { type, format, enum: values, items, properties, required, anyOf } = schema;
  for (const key of Object.keys(schema))
    refuse.unless(FIELDS.includes(key), `Unknown name "${key}" at schema`);
  if (anyOf !== undefined) {
    refuse.unless(
      Object.keys(schema).every((key) => ['anyOf', 'description', 'nullable'].includes(key)),
      'when using any_of, it must be the only field set',
    );
    for (const each of listOf(anyOf)) checkSchema(refuse, each);
    return;
  }
  refuse.unless(TYPES.includes(String(type)), 'type must be specified');
  refuse.unless(
    format === undefined || values !== undefined || allowed(type, format),
    `format ${format} of ${type}`,
  );
  for (const value of listOf(values))
    refuse.unless(typeof value === 'string' && value !== '', 'enum: cannot be empty');
  refuse.unless((type === 'array') === (items !== undefined), 'items: missing field');
  if (items !== undefined) checkSchema(refuse, items);
  refuse.unless(
    properties === undefined || Object.keys(objectOf(properties) ?? {}).length > 0,
    'properties: should be non-empty for OBJECT type',
  );
  for (const each of Object.values(objectOf(properties) ?? {})) checkSchema(refuse, each);
  for (const name of listOf(required))
    refuse.unless(
      Object.hasOwn(objectOf(properties) ?? {}, String(name)),
      'required: property is not defined',
    );
};

const allowed = (type: unknown, format: unknown): boolean =>
  ({ string: ['date-time'], number: ['float', 'double'], integer: ['int32', 'int64'] })[
    String(type)
  ]?.includes(String(format)) === true;
