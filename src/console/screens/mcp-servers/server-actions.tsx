import { useState } from 'react';
import { anything } from '../../data/guard.ts';
import { readResource } from '../../data/queries.ts';
import { changed } from '../../data/records.ts';
import { redactText } from '../../data/redact-text.ts';
import { pathOf, send, sendRaw } from '../../data/request.ts';
import { Button, IconButton } from '../../design/Button.tsx';
import { Chip } from '../../design/Chip.tsx';
import { ConfirmDialog } from '../../design/Dialog.tsx';
import { toast } from '../../feedback/toasts.ts';
import { useWork } from '../../feedback/use-work.ts';
import { say, useTexts } from '../../i18n/locale.ts';
import { healthOf, type Status, statusOf, TONES } from './mcp-server.ts';
import texts from './texts.json' with { type: 'json' };

/** Actions on a running server, shared by the list and the page of the server. */

const LOOK_MS = 1000;
const LOOKS = 30;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Updates the cached status, so that all views of the server show it. */
const look = (id: string): Promise<Status> => readResource(statusOf(id, 0));

/** Reads the status again and reports the number of tools. */
export const verifyTools = async (id: string): Promise<void> => {
  const { tools, connected, last_error } = await look(id);
  if (connected) toast('success', say(texts, 'verify.said', { id, count: tools.length }));
  else toast('error', last_error ?? say(texts, 'health.unknown'));
};

/** Requests a new connection and waits until it is established. */
const restart = async (id: string): Promise<void> => {
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
};

/** Accepts exactly the displayed definitions: the service rejects a digest that is no longer current. */
export const acceptTools = async (id: string, shown: Status['changed_tools']): Promise<void> => {
  const tools = shown.map(({ name, digest }) => ({ name, digest }));
  const path = pathOf`/v1/mcp-servers/${id}/tools/accept`;
  try {
    await send({ method: 'POST', path, body: { tools } }, anything);
    toast('success', say(texts, 'changed.done', { count: tools.length }));
  } finally {
    await look(id).catch(() => {});
  }
};

export const HealthChip = ({ status }: { status: Status }) => {
  const t = useTexts(texts);
  const health = healthOf(status);
  const why = status.last_error === null ? undefined : redactText(status.last_error);
  return (
    <Chip tone={TONES[health]} {...(why !== undefined && !status.connected && { title: why })}>
      {t(`health.${health}`, { count: status.consecutive_failures })}
    </Chip>
  );
};

export const RestartButton = ({ id, isSmall = false }: { id: string; isSmall?: boolean }) => {
  const t = useTexts(texts);
  const [isAsked, ask] = useState(false);
  const [isBusy, run] = useWork();
  const go = (): void => {
    ask(false);
    run(() => restart(id));
  };
  const control = { icon: 'refresh', disabled: isBusy, onClick: () => ask(true) } as const;
  return (
    <>
      {isSmall ? (
        <IconButton small {...control} label={t('restart.named', { id })} />
      ) : (
        <Button {...control}>{t(isBusy ? 'restart.going' : 'restart')}</Button>
      )}
      {isAsked && (
        <ConfirmDialog
          title={t('restart.title', { id })}
          confirm={t('restart')}
          onConfirm={go}
          onClose={() => ask(false)}
        >
          <p>{t('restart.text')}</p>
        </ConfirmDialog>
      )}
    </>
  );
};
