import { Modal } from '@mantine/core';
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { useTexts } from '../i18n/locale.ts';
import { Button, IconButton } from './Button.tsx';
import css from './Dialog.module.css';
import { InputField } from './Inputs.tsx';
import designTexts from './texts.json' with { type: 'json' };
import { useReturnFocus } from './use-return-focus.ts';

type DialogProps = {
  title: string;
  onClose: () => void;
  /** Width in pixels. */
  size?: number;
  /** A click outside of the dialog does not close it. */
  staysOnClick?: boolean;
  children: ReactNode;
};

/** A modal dialog, open while it is rendered. */
export const Dialog = ({ title, onClose, size = 460, staysOnClick = false, children }: DialogProps) => {
  useReturnFocus();
  return (
    <Modal
      opened
      onClose={onClose}
      size={size}
      title={<span className={css.title}>{title}</span>}
      withCloseButton={false}
      // The dialog is outside of the main part, where a header would be another banner of the page.
      attributes={{ header: { role: 'presentation' } }}
      closeOnClickOutside={!staysOnClick}
    >
      <div className={`stack ${css.body}`}>{children}</div>
    </Modal>
  );
};

export const DialogActions = ({ children }: { children: ReactNode }) => (
  <div className={`row end ${css.actions}`}>{children}</div>
);

/** Footer of a dialog that only shows something. */
export const DialogClose = ({ onClose }: { onClose: () => void }) => {
  const t = useTexts(designTexts);
  return (
    <DialogActions>
      <Button data-autofocus onClick={onClose}>
        {t('close')}
      </Button>
    </DialogActions>
  );
};

/**
 * Asks for confirmation before an action that is hard to undo. Cancel has the initial focus, and Escape cancels.
 * `typed` is a text that the user has to type first, such as the id of an entry that others depend on.
 */
export const ConfirmDialog = (props: {
  title: string;
  confirm: string;
  cancel?: string;
  tone?: 'danger' | 'primary';
  typed?: string | undefined;
  busy?: boolean;
  unready?: string | undefined;
  size?: number;
  onConfirm: () => void;
  onClose: () => void;
  children?: ReactNode;
}) => {
  const t = useTexts(designTexts);
  const [entered, setEntered] = useState('');
  const waits = props.typed !== undefined && entered !== props.typed;
  return (
    <Dialog title={props.title} onClose={props.onClose} {...(props.size && { size: props.size })}>
      {props.children}
      {props.typed !== undefined && (
        <InputField label={t('confirm.type', { what: props.typed })} value={entered} onChange={setEntered} />
      )}
      <DialogActions>
        <Button data-autofocus onClick={props.onClose}>
          {props.cancel ?? t('cancel')}
        </Button>
        <Button
          tone={props.tone ?? 'danger'}
          disabled={waits || props.busy || props.unready !== undefined}
          title={props.unready}
          onClick={props.onConfirm}
        >
          {props.confirm}
        </Button>
      </DialogActions>
    </Dialog>
  );
};

/** Details to the right of the list that they belong to. Escape closes the drawer. */
export const Drawer = (props: {
  title: string;
  onClose: () => void;
  actions?: ReactNode;
  children: ReactNode;
}) => {
  const t = useTexts(designTexts);
  const id = useId();
  const panel = useRef<HTMLDivElement>(null);
  const { onClose } = props;
  useReturnFocus();
  useEffect(() => panel.current?.focus({ preventScroll: true }), []);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape' || event.defaultPrevented || hasModal()) return;
      event.preventDefault();
      onClose();
    };
    // Capturing, so that this runs before a dialog above the drawer handles the same key and closes.
    window.addEventListener('keydown', onKey, true);
    return () => window.removeEventListener('keydown', onKey, true);
  }, [onClose]);
  return (
    <div className={`column ${css.drawer}`} role="dialog" aria-labelledby={id} ref={panel} tabIndex={-1}>
      <header className={`bar ${css.drawerHead}`}>
        <h2 id={id} className="cut grow">
          {props.title}
        </h2>
        {props.actions}
        <IconButton icon="close" label={t('close')} onClick={onClose} />
      </header>
      <div className={`stack scrolls ${css.drawerBody}`}>{props.children}</div>
    </div>
  );
};

/** True while a modal dialog is open; it handles keys first. */
export const hasModal = (): boolean => document.querySelector('[aria-modal="true"]') !== null;
