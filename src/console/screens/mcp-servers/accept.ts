import { anything } from '../../data/guard.ts';
import { readResource } from '../../data/queries.ts';
import { pathOf, send } from '../../data/request.ts';
import { say } from '../../i18n/locale.ts';
import { toast, toastError } from '../../shell/toasts.ts';
import { type Status, statusOf } from './server.ts';
import { texts } from './texts.ts';

/** Accepts exactly the definitions that were shown: the service refuses a digest that is no longer the current one. */
export const acceptTools = async (id: string, shown: Status['changed_tools']): Promise<void> => {
  try {
    const tools = shown.map(({ name, digest }) => ({ name, digest }));
    await send(
      { method: 'POST', path: pathOf`/v1/mcp-servers/${id}/tools/accept`, body: { tools } },
      anything,
    );
    toast('success', say(texts, 'changed.done', { count: tools.length }));
  } catch (error) {
    toastError(error);
  }
  await readResource(statusOf(id, 0)).catch(() => {});
};
