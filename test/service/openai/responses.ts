import OpenAI from 'openai';
import type { Test } from 'tap';
import { type Parsed, parseFrames } from '../../protocols/openai/leg.ts';
import { ask } from '../http.ts';
import { createTestTools, type TestTools } from '../tools.ts';
import { startTroupe, type Troupe, type TroupeOptions } from '../troupe.ts';

/** Responses of the tests: the official client, and plain requests for what it does not show. */

export type Responses = {
  troupe: Troupe;
  tools: TestTools;
  client: OpenAI;
  /** Reads a whole stream. */
  events(path: string, body?: object): Promise<{ events: Parsed[]; raw: string; headers: Headers }>;
};

export const startResponses = async (t: Test, options: TroupeOptions = {}): Promise<Responses> => {
  const tools = createTestTools();
  const troupe = await startTroupe(t, {
    ...options,
    app: { ...options.app, tools: [...tools.tools, ...(options.app?.tools ?? [])] },
  });
  return {
    troupe,
    tools,
    get client() {
      return new OpenAI({ baseURL: `${troupe.url}/v1`, apiKey: 'none' });
    },
    async events(path, body) {
      const got = await ask(troupe.url + path, {
        method: body ? 'POST' : 'GET',
        headers: { 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
      const raw = await got.text();
      return { raw, headers: got.headers, events: parseFrames(raw) };
    },
  };
};

export const pick = {
  type: 'function',
  name: 'pick',
  parameters: { type: 'object' },
  strict: false,
} as const;

/** Waits for a condition that no request reports. */
export const until = async (isTrue: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await isTrue())) await new Promise((resolve) => setTimeout(resolve, 5));
};
