import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { type LanguageModelV3StreamPart, TypeValidationError } from '@ai-sdk/provider';
import { ModelError } from '../../../src/models/errors.ts';
import { recordingSink } from '../infer.ts';
import type { Decoded, Sent } from './decode.ts';
import { createPartReceiver } from './package-parts.ts';

/** Decodes a stream with the provider package. `unfit`: it rejected the shape of an event. */
export const packageDecodes = async (events: readonly Sent[]): Promise<Decoded & { unfit: boolean }> => {
  const body = events.map(([, data]) => `data: ${data}\n\n`).join('');
  const google = createGoogleGenerativeAI({
    apiKey: 'k',
    baseURL: 'http://oracle.test/v1beta',
    fetch: async () => new Response(body, { headers: { 'content-type': 'text/event-stream' } }),
  });
  const decoded: Decoded & { unfit: boolean } = {
    heard: [],
    items: [],
    parts: [],
    sources: [],
    unfit: false,
  };
  const { stream } = await google('gemini-2.5-pro').doStream({
    prompt: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }],
  });
  const receive = createPartReceiver({
    ...recordingSink(decoded.heard),
    part: (part) => decoded.parts.push(part),
    source: (source) => decoded.sources.push(source),
  });
  try {
    for await (const part of stream) {
      decoded.unfit ||= isUnfit(part);
      const end = receive(part);
      if (end) decoded.end = end;
    }
  } catch (error) {
    if (!(error instanceof ModelError)) throw error;
    decoded.error = error;
  }
  return decoded;
};

const isUnfit = (part: LanguageModelV3StreamPart): boolean =>
  part.type === 'error' && TypeValidationError.isInstance(part.error);
