import { readResource } from '../../data/queries.ts';
import { changed } from '../../data/records.ts';
import { pathOf, sendRaw } from '../../data/request.ts';
import { say } from '../../i18n/locale.ts';
import { toast, toastError } from '../../shell/toasts.ts';
import { type Status, statusOf } from './server.ts';
import { texts } from './texts.ts';

/** What is done with a running server from a list or its page. */

const LOOK_MS = 1000;
const LOOKS = 30;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Whoever shows it sees what is read here. */
const look = (id: string): Promise<Status> => readResource(statusOf(id, 0));

/** Reads the status anew and says how many tools there are. */
export const verifyTools = async (id: string): Promise<void> => {
  try {
    const { tools, connected, last_error } = await look(id);
    const count = say(texts, 'verify.said', { id, count: tools.length });
    if (connected) toast('success', count);
    else toast('error', last_error ?? say(texts, 'health.unknown'));
  } catch (error) {
    toastError(error);
  }
};

/** Asks for a new connection and waits until it is there. */
export const restart = async (id: string): Promise<void> => {
  try {
    const before = await look(id);
    await sendRaw({ method: 'POST', path: pathOf`/v1/mcp-servers/${id}/restart` });
    for (let looks = 0; looks < LOOKS; looks += 1) {
      await pause(LOOK_MS);
      const now = await look(id);
      const isNew = (now.last_init_at ?? 0) > (before.last_init_at ?? 0);
      const isCounted = now.transport_reconnect_count > before.transport_reconnect_count;
      if (now.connected && (isNew || isCounted)) {
        changed('mcp-servers');
        toast('success', say(texts, 'restart.done', { id, count: now.transport_reconnect_count }));
        return;
      }
    }
    toast('error', say(texts, 'restart.late', { id }));
  } catch (error) {
    toastError(error);
  }
};
