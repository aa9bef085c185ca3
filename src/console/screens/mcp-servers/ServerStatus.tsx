import { useState } from 'react';
import { redactText } from '../../data/redact-text.ts';
import { Button, IconButton } from '../../design/Button.tsx';
import { Chip } from '../../design/Chip.tsx';
import { ConfirmDialog } from '../../design/Dialog.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { healthOf, type Status, TONES } from './mcp-server.ts';
import { restart } from './server-actions.ts';
import texts from './texts.json' with { type: 'json' };

/** The health of a server and its restart, in the list and on the page of the server. */

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
  const [busy, setBusy] = useState(false);
  const go = async (): Promise<void> => {
    ask(false);
    setBusy(true);
    await restart(id);
    setBusy(false);
  };
  const control = { icon: 'refresh', disabled: busy, onClick: () => ask(true) } as const;
  return (
    <>
      {isSmall ? (
        <IconButton small {...control} label={t('restart.named', { id })} />
      ) : (
        <Button {...control}>{t(busy ? 'restart.going' : 'restart')}</Button>
      )}
      {isAsked && (
        <ConfirmDialog
          title={t('restart.title', { id })}
          confirm={t('restart')}
          onConfirm={() => void go()}
          onClose={() => ask(false)}
        >
          <p>{t('restart.text')}</p>
        </ConfirmDialog>
      )}
    </>
  );
};
