import t from 'tap';
import { randomFrom } from '../../../src/load-generator/random.ts';
import { LONG } from '../../long.ts';
import { SEED } from '../../random.ts';
import { ask } from '../http.ts';
import { startTroupe } from '../troupe.ts';
import { createRequests, type Document } from './random-request.ts';

/** Random requests for the routes of OpenAI's protocol (openai.md 2.3, check 73). */

const COUNT = LONG ? 100_000 : 1000;
const CLIENTS = 8;

const KEYS = ['code', 'message', 'param', 'type'];

t.setTimeout(120_000 + COUNT * 100);

t.test(`answers ${COUNT} random requests without a failure (seed ${SEED}, check 73)`, async (t) => {
  const troupe = await startTroupe(t);
  const document = (await troupe.call('GET', '/openapi.json')).body as Document;
  const requests = createRequests(document, randomFrom(SEED));
  const statuses = new Map<number, number>();
  const faults: string[] = [];
  let left = COUNT;
  const client = async (): Promise<void> => {
    while (left > 0 && faults.length < 10) {
      left -= 1;
      const { method, path, ...asked } = requests.next();
      const got = await ask(troupe.url + path, { method, ...asked });
      const text = await got.text();
      const { status, headers } = got;
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status < 300) requests.learn(text);
      const fault = faultOf(status, text, headers);
      if (fault !== undefined)
        faults.push(`${fault}\n${method} ${path} ${JSON.stringify(asked).slice(0, 2000)}`);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  t.comment(JSON.stringify(Object.fromEntries([...statuses].sort(([a], [b]) => a - b))));
  t.strictSame(faults, [], `seed ${SEED}`);
  const accepted = [...statuses].reduce((sum, [status, count]) => sum + (status < 300 ? count : 0), 0);
  t.ok(accepted > COUNT / 20, `${accepted} requests were accepted`);
});

const faultOf = (status: number, text: string, headers: Headers): string | undefined => {
  if (status < 400) return undefined;
  // The failure of a run, such as a text that does not fit the schema of the request.
  const isOfRun = headers.has('x-troupe-run-id');
  if (status >= 500 && !isOfRun) return `${status} ${text}`;
  try {
    const { error } = JSON.parse(text);
    const keys = Object.keys(error).sort();
    return keys.join() === KEYS.join() && typeof error.message === 'string' ? undefined : `${status} ${text}`;
  } catch {
    return `${status}: the body is no JSON: ${text.slice(0, 500)}`;
  }
};
