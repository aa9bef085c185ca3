import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';

/** A real webhook on loopback. It responds with the given statuses, and then with 200. */

export type Call = { path: string; headers: IncomingHttpHeaders; body: Record<string, unknown> };

export type Webhook = {
  url: string;
  calls: Call[];
  /** The responses to the next calls; `silent`: no response. */
  answers: (number | 'silent')[];
};

export const startWebhook = async (t: Test): Promise<Webhook> => {
  const calls: Call[] = [];
  const answers: (number | 'silent')[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => {
      text += chunk;
    });
    request.on('end', () => {
      calls.push({ path: request.url ?? '', headers: request.headers, body: JSON.parse(text) });
      const answer = answers.shift() ?? 200;
      if (answer !== 'silent') response.writeHead(answer, { location: '/elsewhere' }).end('ignored');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  // The server is listening on a port.
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hook`, calls, answers };
};

/** The state in a call, or `artifact`. */
export const stateIn = ({ body }: Call): string => {
  // The body is a StreamResponse; a test with any other body fails.
  const { statusUpdate } = body as { statusUpdate?: { status: { state: string } } };
  return statusUpdate?.status.state.replace('TASK_STATE_', '') ?? 'artifact';
};

/** The task in a call. */
export const taskIn = ({ body }: Call): string | undefined => {
  const { statusUpdate, artifactUpdate } = body as Record<string, { taskId?: string } | undefined>;
  return (statusUpdate ?? artifactUpdate)?.taskId;
};
