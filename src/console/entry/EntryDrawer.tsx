import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { Button } from '../design/Button.tsx';
import { ConfirmDialog, Drawer } from '../design/Dialog.tsx';
import { Notice } from '../design/Notice.tsx';
import { useTexts } from '../i18n/locale.ts';
import { shellTexts } from '../shell/texts.ts';
import { UnsavedGuard } from '../shell/UnsavedGuard.tsx';
import css from './EntryDrawer.module.css';
import { MergeDialog } from './MergeDialog.tsx';
import { texts } from './texts.ts';
import type { EntryForm } from './use-entry.ts';

/** The form of an entry, at the right of its list. What is typed is not lost by closing it. */
export const EntryDrawer = (props: {
  title: string;
  form: EntryForm;
  onClose: () => void;
  /** Beside Save. */
  actions?: ReactNode;
  children: ReactNode;
}) => {
  const t = useTexts(texts);
  const shell = useTexts(shellTexts);
  const { form, onClose } = props;
  const [isLeaving, leave] = useState(false);
  const element = useRef<HTMLFormElement>(null);
  const { errors } = form;
  useEffect(() => {
    if (errors.size > 0) element.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [errors]);
  const close = (): void => (form.isDirty ? leave(true) : onClose());
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (!form.busy) void form.save();
  };
  const general = errors.get('');
  return (
    <Drawer title={props.title} onClose={close}>
      <form ref={element} className={css.form} noValidate onSubmit={submit}>
        {general !== undefined && (
          <Notice tone="error" title={t('refused')}>
            {general}
          </Notice>
        )}
        {props.children}
        <footer className={css.foot}>
          <Button type="submit" tone="primary" disabled={form.busy || !form.isDirty} data-save>
            {t('save')}
          </Button>
          {props.actions}
          <span className={css.push} />
          <Button onClick={close}>{t('cancel')}</Button>
        </footer>
      </form>
      <UnsavedGuard isDirty={form.isDirty} />
      {isLeaving && (
        <ConfirmDialog
          title={shell('guard.title')}
          confirm={shell('guard.discard')}
          cancel={shell('guard.keep')}
          onConfirm={onClose}
          onClose={() => leave(false)}
        >
          <p>{shell('guard.text')}</p>
        </ConfirmDialog>
      )}
      {form.conflict && (
        <MergeDialog
          base={form.opened.start}
          mine={form.draft}
          theirs={form.conflict.theirs}
          actor={form.conflict.meta?.actor}
          onMerge={form.merge}
          onTakeTheirs={form.takeTheirs}
          onClose={form.leaveConflict}
        />
      )}
    </Drawer>
  );
};
