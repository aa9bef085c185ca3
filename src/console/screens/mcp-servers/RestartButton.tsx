import { useState } from 'react';
import { Button, IconButton } from '../../design/Button.tsx';
import { ConfirmDialog } from '../../design/Dialog.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { restart } from './restart.ts';
import { texts } from './texts.ts';

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
  const open = (): void => ask(true);
  return (
    <>
      {isSmall ? (
        <IconButton
          small
          icon="refresh"
          label={t('doRestart.named', { id })}
          disabled={busy}
          onClick={open}
        />
      ) : (
        <Button icon="refresh" disabled={busy} onClick={open}>
          {t(busy ? 'restart.going' : 'doRestart')}
        </Button>
      )}
      {isAsked && (
        <ConfirmDialog
          title={t('restart.title', { id })}
          confirm={t('doRestart')}
          onConfirm={() => void go()}
          onClose={() => ask(false)}
        >
          <p>{t('restart.text')}</p>
        </ConfirmDialog>
      )}
    </>
  );
};
