import { type ReactNode, useState } from 'react';
import { Button } from '../design/Button.tsx';
import { Dialog, DialogActions } from '../design/Dialog.tsx';
import { TextField } from '../design/Inputs.tsx';
import { useWork } from './use-work.ts';

type FormDialogProps = {
  title: string;
  confirm: string;
  size?: number;
  isOff?: boolean;
  act: () => Promise<unknown>;
  onClose: () => void;
  children?: ReactNode;
};

/** A dialog with fields and one action. It closes when the action is done, and stays open if the action fails. */
export const FormDialog = ({ title, size, act, onClose, ...props }: FormDialogProps) => {
  const [isBusy, run] = useWork();
  const submit = async (): Promise<void> => {
    await act();
    onClose();
  };
  return (
    <Dialog title={title} onClose={onClose} {...(size && { size })}>
      <form
        className="stack"
        data-wide
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          run(submit);
        }}
      >
        {props.children}
        <DialogActions>
          <Button type="submit" tone="primary" disabled={isBusy || props.isOff === true}>
            {props.confirm}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
};

/** A dialog for one text. */
export const TextDialog = (
  props: Omit<FormDialogProps, 'act' | 'isOff'> & {
    label: string;
    hint?: string;
    initial?: string | undefined;
    rows?: number;
    mayBeEmpty?: boolean;
    onSave: (text: string) => Promise<unknown>;
  },
) => {
  const { label, hint, initial = '', rows = 1, mayBeEmpty = false, onSave, children, ...dialog } = props;
  const [text, setText] = useState(initial);
  return (
    <FormDialog {...dialog} isOff={!mayBeEmpty && text.trim() === ''} act={() => onSave(text.trim())}>
      <TextField
        {...{ label, hint, rows }}
        required={!mayBeEmpty}
        data-autofocus
        value={text}
        onChange={setText}
        onKeyDown={(event) => {
          if (rows > 1 || event.key !== 'Enter' || event.nativeEvent.isComposing) return;
          event.preventDefault();
          event.currentTarget.form?.requestSubmit();
        }}
      />
      {children}
    </FormDialog>
  );
};
