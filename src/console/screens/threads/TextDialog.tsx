import { useState } from 'react';
import { Button } from '../../design/Button.tsx';
import { Dialog, DialogActions } from '../../design/Dialog.tsx';
import { TextField } from '../../design/Inputs.tsx';
import { toastError } from '../../feedback/toasts.ts';

/** A dialog for one text. It closes once the text is stored, and stays open with the text after a failure. */
export const TextDialog = (props: {
  title: string;
  label: string;
  hint?: string;
  confirm: string;
  initial?: string | undefined;
  /** Rows of the input; an empty text cannot be sent if there are several. */
  rows?: number;
  onSave: (text: string) => Promise<void>;
  onClose: () => void;
}) => {
  const { title, label, hint, confirm, initial = '', rows = 1, onSave, onClose } = props;
  const [text, setText] = useState(initial);
  const [busy, setBusy] = useState(false);
  const isRequired = rows > 1;
  const save = async (): Promise<void> => {
    setBusy(true);
    try {
      await onSave(text.trim());
      onClose();
    } catch (error) {
      toastError(error);
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <TextField
        {...{ label, hint, rows }}
        required={isRequired}
        data-autofocus
        value={text}
        onChange={setText}
        onKeyDown={(event) => {
          if (rows > 1 || event.key !== 'Enter' || event.nativeEvent.isComposing) return;
          event.preventDefault();
          void save();
        }}
      />
      <DialogActions>
        <Button
          tone="primary"
          disabled={busy || (isRequired && text.trim() === '')}
          onClick={() => void save()}
        >
          {confirm}
        </Button>
      </DialogActions>
    </Dialog>
  );
};
