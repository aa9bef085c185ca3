import { z } from 'zod';
import {
  type Answer,
  type Asked,
  type Chunk,
  chunkOf,
  countOutput,
  DEPARTURE,
  INPUT_TOKENS,
  THOUGHT,
} from './answer.ts';
import type { UpstreamFormat } from './format.ts';
import { Refusal, readBody } from './refusal.ts';

/** `streamGenerateContent?alt=sse`. Lines end with CRLF; a call arrives complete, without an id. */

const INVALID = 'INVALID_ARGUMENT';

const Named = z.looseObject({ name: z.string().min(1) });

const Part = z.looseObject({ functionCall: Named.optional(), functionResponse: Named.optional() });

const Content = z.looseObject({
  role: z.literal(['user', 'model', 'function']).optional(),
  parts: z.array(Part).min(1),
});

const Body = z.looseObject({
  contents: z.array(Content, 'contents is not specified').min(1, 'contents is not specified'),
});

const PATH = /^\/v1beta\/models\/([^/:]+):streamGenerateContent$/;

export const gemini: UpstreamFormat = {
  serves: (path) => PATH.test(path),
  read({ url, headers, body }) {
    const model = PATH.exec(url.pathname)?.[1] ?? '';
    if (!headers['x-goog-api-key'] && !url.searchParams.get('key')) {
      throw new Refusal(403, 'PERMISSION_DENIED', "Method doesn't allow unregistered callers.");
    }
    if (url.searchParams.get('alt') !== 'sse') {
      throw new Refusal(400, INVALID, 'this upstream only streams: the query must have alt=sse');
    }
    const { contents } = readBody(Body, body, INVALID);
    checkTurns(contents);
    const hasResults = contents.at(-1)?.parts.some(({ functionResponse }) => functionResponse) === true;
    return { model, hasResults, includeUsage: true };
  },
  encode,
  describe: ({ status, kind, message }) => ({ error: { code: status, message, status: kind } }),
};

/** @throws Refusal unless each turn of calls is followed by a turn with as many results */
function checkTurns(contents: readonly z.output<typeof Content>[]): void {
  for (const [index, { parts }] of contents.entries()) {
    const calls = parts.filter(({ functionCall }) => functionCall).length;
    const after = contents[index + 1]?.parts ?? [];
    if (calls === 0 || after.filter(({ functionResponse }) => functionResponse).length === calls) continue;
    throw new Refusal(
      400,
      INVALID,
      'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
    );
  }
}

function encode({ model }: Asked, answer: Answer): Chunk[] {
  const { reasoning, calls, tokens } = answer;
  const total = countOutput(answer);
  let sent = 0;
  const event = (parts: object[], finishReason?: string): Chunk => {
    sent = Math.min(total, sent + 1);
    const candidate = { content: { parts, role: 'model' }, ...(finishReason && { finishReason }), index: 0 };
    const data = {
      candidates: [candidate],
      usageMetadata: usageOf(finishReason ? total : sent, reasoning),
      modelVersion: model,
      responseId: 'bench0000000000000000',
    };
    return chunkOf(`data: ${JSON.stringify(data)}\r\n\r\n`);
  };
  const called = calls.map(({ name, fragments }, index) => ({
    functionCall: { name, args: JSON.parse(fragments.join('')) },
    ...(index === 0 && { thoughtSignature: 'CiQB'.padEnd(200, 'x') }),
  }));
  return [
    ...Array.from({ length: reasoning }, () => event([{ text: THOUGHT, thought: true }])),
    ...Array.from({ length: tokens }, () => event([{ text: DEPARTURE }])),
    ...(called.length > 0 ? [event(called)] : []),
    event([{ text: '' }], 'STOP'),
  ];
}

function usageOf(output: number, reasoning: number): object {
  return {
    promptTokenCount: INPUT_TOKENS,
    candidatesTokenCount: Math.max(0, output - reasoning),
    ...(reasoning > 0 && { thoughtsTokenCount: reasoning }),
    totalTokenCount: INPUT_TOKENS + output,
    promptTokensDetails: [{ modality: 'TEXT', tokenCount: INPUT_TOKENS }],
  };
}
