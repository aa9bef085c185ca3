import { anything } from '../../data/guard.ts';
import { readResource } from '../../data/queries.ts';
import { changed } from '../../data/records.ts';
import { pathOf, send, sendRaw } from '../../data/request.ts';
import { toast, toastError } from '../../feedback/toasts.ts';
import { say } from '../../i18n/locale.ts';
import { type Status, statusOf } from './mcp-server.ts';
import texts from './texts.json' with { type: 'json' };

/** Actions on a running server, shared by the list and the page of the server. */

const LOOK_MS = 1000;
const LOOKS = 30;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Updates the cached status, so that all views of the server show it. */
const look = (id: string): Promise<Status> => readResource(statusOf(id, 0));

/** Reads the status again and reports the number of tools. */
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

/** Requests a new connection and waits until it is established. */
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

/** Accepts exactly the displayed definitions: the service rejects a digest that is no longer current. */
export const acceptTools = async (id: string, shown: Status['changed_tools']): Promise<void> => {
  try {
    const tools = shown.map(({ name, digest }) => ({ name, digest }));
    const path = pathOf`/v1/mcp-servers/${id}/tools/accept`;
    await send({ method: 'POST', path, body: { tools } }, anything);
    toast('success', say(texts, 'changed.done', { count: tools.length }));
  } catch (error) {
    toastError(error);
  }
  await look(id).catch(() => {});
};
