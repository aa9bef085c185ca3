import type { ReactNode } from 'react';
import { reasonOf } from '../data/redact-text.ts';
import { ConfirmDialog } from '../design/Dialog.tsx';
import { Notice } from '../design/Notice.tsx';
import { toast } from '../feedback/toasts.ts';
import { useAttempt } from '../feedback/use-attempt.ts';
import { useTexts } from '../i18n/locale.ts';
import type { Texts, Values } from '../i18n/texts.ts';

/** Asks for confirmation, then acts. A failure is shown in the dialog, which stays open. */
export const ActDialog = <Of extends string>(props: {
  /** The dialog has the texts `<of>.title`, `<of>.text`, `<of>.confirm` and, for the toast after it, `<of>.done`. */
  texts: Texts<`${NoInfer<Of>}.${'title' | 'text' | 'confirm' | 'done'}`>;
  of: Of;
  values?: Values;
  tone?: 'danger' | 'primary';
  typed?: string | undefined;
  act: () => Promise<unknown>;
  onClose: () => void;
  children?: ReactNode;
}) => {
  const { of, values, tone, typed, onClose } = props;
  const t = useTexts(props.texts);
  const { isBusy, error, run } = useAttempt();
  const act = async (): Promise<void> => {
    await props.act();
    toast('success', t(`${of}.done`, values));
    onClose();
  };
  return (
    <ConfirmDialog
      title={t(`${of}.title`, values)}
      confirm={t(`${of}.confirm`, values)}
      {...(tone && { tone })}
      typed={typed}
      busy={isBusy}
      onConfirm={() => void run(act)}
      onClose={onClose}
    >
      <p>{t(`${of}.text`, values)}</p>
      {props.children}
      {error !== undefined && <Notice tone="error" title={reasonOf(error)} />}
    </ConfirmDialog>
  );
};
