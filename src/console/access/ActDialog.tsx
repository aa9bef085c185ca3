import { type ReactNode, useState } from 'react';
import { redactText } from '../data/redact-text.ts';
import { ConfirmDialog } from '../design/Dialog.tsx';
import { Notice } from '../design/Notice.tsx';

/** Asks for confirmation, then acts. A failure is shown in the dialog, which stays open. */
export const ActDialog = (props: {
  title: string;
  confirm: string;
  tone?: 'danger' | 'primary';
  typed?: string | undefined;
  act: () => Promise<void>;
  onClose: () => void;
  children: ReactNode;
}) => {
  const { act, children, ...rest } = props;
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string>();
  const run = async (): Promise<void> => {
    setBusy(true);
    try {
      await act();
      props.onClose();
    } catch (error) {
      setFailure(redactText(error instanceof Error ? error.message : String(error)));
      setBusy(false);
    }
  };
  return (
    <ConfirmDialog {...rest} busy={busy} onConfirm={() => void run()}>
      {children}
      {failure !== undefined && <Notice tone="error" title={failure} />}
    </ConfirmDialog>
  );
};
