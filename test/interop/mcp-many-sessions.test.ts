import { queryObjects } from 'node:v8';
import { Server } from '@modelcontextprotocol/server';
import t from 'tap';
import { LONG } from '../long.ts';
import { type McpSession, mcpClient, text } from '../service/mcp/mcp.ts';
import { startTroupe } from '../service/troupe.ts';

/**
 * Many clients of the MCP endpoint that call agents concurrently. `TROUPE_TEST_LONG`: a thousand of them, ten times.
 */

const SESSIONS = LONG ? 1000 : 40;
const ROUNDS = LONG ? 10 : 1;

t.test(
  'sends each of many sessions the messages of its calls only, and releases all resources',
  async (t) => {
    const troupe = await startTroupe(t, { settings: { max_concurrent_requests: 5000 } });
    const client = mcpClient(() => troupe.url);

    /** Every session calls with the same request id and the same token. */
    const callIn = async (session: McpSession, name: string): Promise<object> => {
      const call = await session.call('echo', { message: name }, { id: 7, meta: { progressToken: 'p' } });
      const messages = await call.rest();
      const answer = messages.at(-1) ?? {};
      return {
        answers: messages.filter(({ id }) => id !== undefined).map(({ id }) => id),
        text: text(answer),
        began: messages.filter(({ params }) => params?.data === 'starting agent run').length,
        done: messages.filter(({ params }) => params?.data === 'completed').length,
        methods: [...new Set(messages.flatMap(({ method }) => method ?? []))].sort(),
      };
    };

    const round = async (number: number): Promise<void> => {
      const sessions = await Promise.all(Array.from({ length: SESSIONS }, () => client.open()));
      t.equal(new Set(sessions.map(({ id }) => id)).size, SESSIONS);
      const heard = await Promise.all(
        sessions.flatMap((session, at) => [callIn(session, `${number}.${at}`), session.ask('ping')]),
      );
      t.strictSame(
        heard.filter((_, at) => at % 2 === 0),
        sessions.map((_, at) => ({
          answers: [7],
          text: `echo: ${number}.${at}`,
          began: 1,
          done: 1,
          methods: ['notifications/message', 'notifications/progress'],
        })),
      );
      await Promise.all(sessions.map((session) => session.end()));
    };

    for (let number = 0; number < ROUNDS; number += 1) await round(number);
    // Fewer than the number of sessions; an earlier test may still hold some.
    t.ok(queryObjects(Server, { format: 'count' }) < SESSIONS, 'cores of the protocol are collected');
  },
);
