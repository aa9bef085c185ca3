import { isDeepStrictEqual } from 'node:util';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import t from 'tap';
import type { InferenceRequest } from '../../../src/models/model.ts';
import { geminiWire } from '../../../src/models/wire/gemini.ts';
import { listOf, objectOf } from '../../../src/models/wire/read.ts';
import type { Json, JsonObject } from '../../../src/schema/json.ts';
import type { ContentBlock, Message } from '../../../src/schema/message.ts';
import type { ToolDescriptor } from '../../../src/schema/tool-descriptor.ts';
import fc from '../../random.ts';
import { recordingSink } from '../infer.ts';
import { callOf } from './decode.ts';
import { geminiEffort } from './package-effort.ts';
import { createAiSdkModel } from './package-model.ts';
import { refusalOfGemini } from './strict-gemini.ts';

/**
 * Compares the Gemini encoder with the provider package. Both bodies are normalized first; each step is a difference,
 * and its comment states why Troupe is right. Histories that the package sends in a form that the service rejects are
 * only checked by the rules of the service.
 */

/** Runs per platform. */
const RUNS = Math.ceil(Number(process.env.TROUPE_ORACLE_RUNS ?? 1000) / 2);

const PLATFORMS = [
  ['gemini', 'google.generative-ai'],
  ['vertex', 'google.vertex.chat'],
] as const;
type Platform = (typeof PLATFORMS)[number][0];

const UPSTREAMS = [
  'gemini-2.5-pro',
  'gemini-3-pro',
  'gemini-2.5-flash-image',
  'tunedModels/x',
  'gemma-3-27b-it',
];

const packageSends = async (
  request: InferenceRequest,
  upstream: string,
  name: string,
): Promise<{ path: string; body: JsonObject }> => {
  let sent: { path: string; body: JsonObject } | undefined;
  const google = createGoogleGenerativeAI({
    name,
    apiKey: 'k',
    baseURL: 'http://oracle.test/v1beta/',
    fetch: async (url, init) => {
      sent = {
        path: String(url).replace('http://oracle.test/v1beta/', ''),
        body: JSON.parse(String(init?.body)),
      };
      return new Response('data: {"candidates":[{"finishReason":"STOP"}]}\n\n');
    },
  });
  const adapter = {
    language: async (model: string) => google(model),
    effort: geminiEffort,
    systemFirst: true,
    ownPictures: (model: string) => /(^|\/)gemini-[12]\b/.test(model),
  };
  const spec = { id: 'm', provider_id: 'p', upstream_model: upstream };
  await createAiSdkModel(adapter, spec, { provider: 'p', timeoutSeconds: 60 }).stream(
    request,
    recordingSink([]),
    new AbortController().signal,
  );
  if (!sent) throw new Error('nothing was sent');
  return sent;
};

/** Parts in order, with the role of their content. A completion with only thoughts is not sent. */
const partsOf = (contents: Json | undefined): JsonObject[] =>
  listOf(contents).flatMap((given) => {
    const content = objectOf(given);
    const parts = listOf(content?.parts).map((part) => ({ role: content?.role ?? null, ...objectOf(part) }));
    const written: JsonObject[] = parts.filter(isWritten);
    return written.some(({ thought }) => thought !== true) ? written : [];
  });

const comparable = ({ contents, systemInstruction, ...body }: JsonObject): JsonObject => ({
  ...body,
  systemInstruction: listOf(objectOf(systemInstruction)?.parts).filter(isWritten) as Json,
  // Contents are compared as a list of parts. Troupe combines the results of parallel calls, and consecutive
  // completions, into one content, because the service counts the responses of a content and requires calls to follow a
  // content of the user.
  contents: partsOf(contents)
    // The service rejects blank texts, including those that the package joins with others for Gemma.
    .map((part) => (typeof part.text === 'string' ? { ...part, text: part.text.trim() } : part))
    // A placeholder, so that the request has a content of the user.
    .filter(({ text }) => text !== '(empty message)'),
});

const isWritten = (part: unknown): boolean =>
  objectOf(part)?.text === undefined || !/^\s*$/.test(String(objectOf(part)?.text));

const words = fc.constantFrom('Hello', ' ', '', '\n', 'Grüße 👋🏽', 'Sure.');
const picture: ContentBlock = {
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: 'AAAA' },
};
const userBlock = fc.oneof(
  words.map((text): ContentBlock => ({ type: 'text', text })),
  fc.constantFrom<ContentBlock>(
    picture,
    { type: 'image', source: { type: 'url', url: 'https://a.example/i' } },
    { type: 'document', source: { type: 'url', url: 'https://a.example/d' }, title: 'D' },
    { type: 'audio', source: { type: 'base64', media_type: 'audio/ogg', data: 'AAAA' } },
    { type: 'video', source: { type: 'url', url: 'https://a.example/v' } },
  ),
);
const answerBlock = fc.oneof(
  { arbitrary: words.map((text): ContentBlock => ({ type: 'text', text })), weight: 4 },
  { arbitrary: words.map((thinking): ContentBlock => ({ type: 'thinking', thinking })), weight: 1 },
  { arbitrary: fc.constant(picture), weight: 1 },
);

type Turn = {
  user: ContentBlock[];
  answer: ContentBlock[];
  calls: { name: string; args: JsonObject; text: string }[];
};
const turn: fc.Arbitrary<Turn> = fc.record({
  user: fc.array(userBlock, { minLength: 1, maxLength: 3 }),
  answer: fc.array(answerBlock, { maxLength: 3 }),
  calls: fc.array(
    fc.record({
      name: fc.constantFrom('look', 'look up', 'a.b', 'x'.repeat(70)),
      args: fc.dictionary(
        fc.constantFrom('q', 'n'),
        fc.oneof(words, fc.integer()),
      ) as fc.Arbitrary<JsonObject>,
      text: words,
    }),
    { maxLength: 3 },
  ),
});

const historyOf = (turns: readonly Turn[]): Message[] =>
  turns.flatMap(({ user, answer, calls }, at) => [
    { id: `u${at}`, role: 'user' as const, content: user },
    {
      id: `a${at}`,
      role: 'assistant' as const,
      content: answer,
      tool_calls: calls.map(({ name, args }, n) => ({ id: `c${at}_${n}`, name, arguments: args })),
    },
    ...calls.map(({ text }, n) => ({
      id: `r${at}_${n}`,
      role: 'tool' as const,
      tool_call_id: `c${at}_${n}`,
      content: [{ type: 'text' as const, text }],
    })),
  ]);

/** Schemas that the package sends in a form that the service accepts; gemini-encode.test.ts covers the others. */
const property: fc.Arbitrary<JsonObject> = fc.letrec<{ schema: JsonObject }>((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<JsonObject>(
      { type: 'string', description: 'Text.' },
      { type: 'string', enum: ['a', 'b'] },
      { type: 'string', format: 'date-time', minLength: 1 },
      { type: 'integer', minimum: 1, enum: [1, 2] },
      { type: ['number', 'null'] },
      { type: ['string', 'boolean', 'null'], description: 'Either.' },
      { type: 'object' },
      { const: 'x' },
    ),
    tie('schema').map((items) => ({ type: 'array', items, maxItems: 3 })),
    tie('schema').map(
      (p): JsonObject => ({ type: 'object', properties: { p }, required: ['p'], title: 'P' }),
    ),
    fc.tuple(tie('schema'), tie('schema')).map((anyOf): JsonObject => ({ anyOf, description: 'One.' })),
    fc.constant<JsonObject>({ $ref: '#/$defs/named' }),
  ),
})).schema;
const tool: fc.Arbitrary<ToolDescriptor> = fc
  .tuple(fc.constantFrom('look', 'look up', 'a.b'), fc.dictionary(fc.constantFrom('p', 'q', 'r'), property))
  .map(([id, properties]) => ({
    id,
    name: id,
    description: 'Looks.',
    category: null,
    parameters: {
      type: 'object',
      properties,
      ...(Object.keys(properties).length > 0 && { required: Object.keys(properties).slice(0, 1) }),
      $defs: { named: { type: 'object', properties: { z: { type: 'string' } } } },
    },
  }));

const request: fc.Arbitrary<InferenceRequest> = fc
  .record({
    system: fc.array(words, { maxLength: 2 }),
    turns: fc.array(turn, { maxLength: 3 }),
    last: fc.array(userBlock, { minLength: 1, maxLength: 2 }),
    tools: fc.uniqueArray(tool, { maxLength: 2, selector: ({ id }) => id }),
    overrides: fc.record({
      temperature: fc.constantFrom(null, 0, 0.5),
      top_p: fc.constantFrom(null, 1),
      max_tokens: fc.constantFrom(null, 7),
      reasoning_effort: fc.constantFrom(null, 'none' as const, 'low' as const, 'max' as const, {
        budget: 2000,
      }),
    }),
  })
  .map(({ turns, last, ...rest }) => ({
    ...rest,
    messages: [...historyOf(turns), { id: 'last', role: 'user', content: last }],
  }));

for (const [platform, name] of PLATFORMS) {
  t.test(
    `${platform}: sends the same request as the package, in a form that the service accepts`,
    async () => {
      const compare = async (given: InferenceRequest, upstream: string): Promise<void> => {
        const mine = geminiWire({ platform: platform satisfies Platform }).encode(
          callOf({ upstream, request: given }),
        );
        const refusal = refusalOfGemini(mine, platform);
        if (refusal !== undefined) throw new Error(`${refusal}: ${JSON.stringify(mine)}`);
        const theirs = await packageSends(given, upstream, name);
        const [ours, other] = [comparable(JSON.parse(JSON.stringify(mine.body))), comparable(theirs.body)];
        if (mine.path !== theirs.path) throw new Error(`${mine.path} is not ${theirs.path}`);
        // The package loses Gemma's system texts if the history does not begin with the user.
        const isLost =
          upstream.startsWith('gemma-') && objectOf(listOf(theirs.body.contents)[0])?.role !== 'user';
        if (isLost) delete ours.contents;
        for (const key of Object.keys(isLost ? ours : { ...ours, ...other }))
          if (!isDeepStrictEqual(ours[key], other[key]))
            throw new Error(
              `${key}\nTroupe: ${JSON.stringify(ours[key])}\npackage: ${JSON.stringify(other[key])}`,
            );
      };
      await fc.assert(fc.asyncProperty(request, fc.constantFrom(...UPSTREAMS), compare), { numRuns: RUNS });
    },
  );
}
