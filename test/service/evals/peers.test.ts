import type { ServerResponse } from 'node:http';
import t from 'tap';
import { chatChunk, sendEvents, startSseServer } from '../../models/sse-server.ts';
import { startEvals } from './evals.ts';

/** Providers with all kinds of behavior over HTTP: every cell ends by its deadline, without affecting its siblings. */

const pour = (response: ServerResponse, piece: string): void => {
  const more = (): void => {
    while (!response.destroyed && response.write(piece));
  };
  response.on('drain', more);
  more();
};

const delta = (content: string): string => `data: ${JSON.stringify(chatChunk({ content }))}\n\n`;

const trickle = (response: ServerResponse): void => {
  sendEvents(response, [chatChunk({ content: 'x' })]);
  const timer = setInterval(() => response.write(delta('x')), 5);
  response.on('close', () => clearInterval(timer));
};

const MANNERS: Record<string, (response: ServerResponse) => void> = {
  hangs() {},
  trickles: trickle,
  floods(response) {
    sendEvents(response, []);
    pour(response, delta('x'.repeat(100_000)));
  },
  huge(response) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(delta('x'.repeat(50 * 1024 * 1024)));
  },
  breaks(response) {
    sendEvents(response, [chatChunk({ content: 'half' })]);
    setTimeout(() => response.destroy(), 20);
  },
  refuses(response) {
    response.writeHead(500).end('x'.repeat(100_000));
  },
  fine(response) {
    sendEvents(response, [chatChunk({ content: 'fine' }), chatChunk({}, 'stop')]);
    response.end('data: [DONE]\n\n');
  },
};

t.test('ends every cell and limits its report, whatever the provider does', async (t) => {
  const { url } = await startSseServer(t, (response, { body }) => {
    // The provider lists no models.
    if (body === '') response.writeHead(404).end();
    else MANNERS[JSON.parse(body).model]?.(response);
  });
  const { ask, dataset, evaluate } = await startEvals(t);
  const provider = { id: 'http', adapter: 'openai', api_key: 'sk', base_url: `${url}/v1` };
  t.equal((await ask('POST', '/v1/config/providers', provider)).status, 201);
  const names = Object.keys(MANNERS);
  for (const id of names) {
    const model = { id, provider_id: 'http', upstream_model: id };
    t.equal((await ask('POST', '/v1/config/models', model)).status, 201);
  }
  await dataset('D', [{ id: 'f', user_input: 'Hello' }]);
  const reportsOf = async (models: readonly string[], max_walltime_secs: number) => {
    const agent_overrides = { sections: { retry: { max_retries: 0, max_stream_retries: 0 } } };
    const { items } = await evaluate({ dataset_id: 'D', models, max_walltime_secs, agent_overrides });
    return Object.fromEntries(items.map(({ cell, report }) => [cell?.model_id, report]));
  };
  const ENDLESS = ['hangs', 'trickles'];
  const late = await reportsOf(ENDLESS, 1);
  for (const name of ENDLESS)
    t.match(late[name]?.runtime_failure, { message: 'cell walltime exceeded: max 1s' }, name);
  // Cells that end on their own get enough time.
  const reports = await reportsOf(
    names.filter((name) => !ENDLESS.includes(name)),
    120,
  );
  for (const name of ['floods', 'huge', 'breaks', 'refuses']) {
    t.match(reports[name]?.runtime_failure, { kind: 'runtime_error', message: /^inference failed: / }, name);
    t.match(reports[name], { passed: false, final_text: '', inference_error_count: 1 }, name);
    t.ok(JSON.stringify(reports[name]).length < 10_000, name);
  }
  t.match(reports.fine, { passed: true, final_text: 'fine' });
});
