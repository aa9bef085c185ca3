import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { Button } from '../design/Button.tsx';
import { Drawer } from '../design/Dialog.tsx';
import { Loaded } from '../design/Loaded.tsx';
import { Notice } from '../design/Notice.tsx';
import feedbackTexts from '../feedback/texts.json' with { type: 'json' };
import { useTexts } from '../i18n/locale.ts';
import { DiscardDialog, UnsavedGuard } from '../navigation/UnsavedGuard.tsx';
import type { Schema } from '../schema-form/schema.ts';
import css from './Entry.module.css';
import { AllEntryFields, type EntryDescriptor, EntryFormContext } from './EntryFields.tsx';
import type { Errors, Opened, Spec } from './entry.ts';
import { MergeDialog } from './MergeDialog.tsx';
import texts from './texts.json' with { type: 'json' };
import { type EntryForm, useEntry } from './use-entry.ts';
import { useEntryAddress, useOpening } from './use-opened-entry.ts';

export { useOpening } from './use-opened-entry.ts';

/** The form of an entry to the right of its list, which the address opens. */

/** Acts on the problems of an attempt to save. Fewer problems than before were corrected, which is no report. */
export const useReported = (errors: Errors, act: () => void): void => {
  const last = useRef(errors);
  const current = useRef(act);
  current.current = act;
  useEffect(() => {
    const isReported = errors.size > 0 && errors.size >= last.current.size;
    last.current = errors;
    if (isReported) current.current();
  }, [errors]);
};

/** Focuses the first invalid field once its problem is rendered, and opens the group that contains it. */
export const useFirstError = <Element extends HTMLElement>(errors: Errors) => {
  const element = useRef<Element>(null);
  useReported(errors, () => focusFirst(element.current));
  return element;
};

export const focusFirst = (element: HTMLElement | null): void => {
  const field = element?.querySelector<HTMLElement>('[aria-invalid="true"]');
  field?.closest('details')?.setAttribute('open', '');
  field?.focus();
};

/** Asks before changes are lost: to navigation, or to the concurrent change of another operator. */
export const EntryGuards = ({ form }: { form: EntryForm }) => (
  <>
    <UnsavedGuard isDirty={form.isDirty} />
    {form.conflict && (
      <MergeDialog
        base={form.opened.start}
        mine={form.draft}
        theirs={form.conflict.theirs}
        {...(form.read && { read: form.read })}
        actor={form.conflict.meta?.actor}
        onMerge={form.merge}
        onTakeTheirs={form.takeTheirs}
        onClose={form.leaveConflict}
      />
    )}
  </>
);

/** A message of the service that concerns no single field. */
export const Refused = ({ errors }: { errors: Errors }) => {
  const t = useTexts(texts);
  const general = errors.get('');
  return general === undefined ? null : (
    <Notice tone="error" title={t('refused')}>
      {general}
    </Notice>
  );
};

const useTitle = ({ texts: ofScreen, entity }: EntryDescriptor, { opened, draft }: EntryForm): string => {
  const t = useTexts(ofScreen);
  const nameOf = useTexts(feedbackTexts);
  if (!opened.isNew) return `${nameOf(entity)} ${opened.start.id}`;
  return draft.id === '' ? t('new') : `${t('new')} — ${draft.id}`;
};

type DrawerProps = { descriptor: EntryDescriptor; opened: Opened; schema: Schema; onClose: () => void };

const EntryDrawer = ({ descriptor, opened, schema, onClose }: DrawerProps) => {
  const t = useTexts(texts);
  const { Before, After, Actions } = descriptor;
  const form = useEntry(opened, { ...descriptor, schema });
  const [isLeaving, leave] = useState(false);
  const element = useFirstError<HTMLFormElement>(form.errors);
  const close = (): void => (form.isDirty ? leave(true) : onClose());
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (!form.busy && (await form.save())) onClose();
  };
  return (
    <Drawer title={useTitle(descriptor, form)} onClose={close}>
      <EntryFormContext value={{ form, schema, descriptor }}>
        <form ref={element} className={css.form} noValidate onSubmit={(event) => void submit(event)}>
          <Refused errors={form.errors} />
          {Before && <Before />}
          <AllEntryFields descriptor={descriptor} />
          {After && <After />}
          <footer className={css.foot}>
            {Actions && <Actions />}
            <span className="push" />
            <Button onClick={close}>{t('cancel')}</Button>
            <Button type="submit" tone="primary" disabled={form.busy || !form.isDirty} data-save>
              {t('save')}
            </Button>
          </footer>
        </form>
      </EntryFormContext>
      <EntryGuards form={form} />
      {isLeaving && <DiscardDialog onDiscard={onClose} onKeep={() => leave(false)} />}
    </Drawer>
  );
};

type OpeningProps = { descriptor: EntryDescriptor; id: string | undefined; start: Spec | undefined };

const Opening = ({ descriptor, id, start }: OpeningProps): ReactNode => {
  const { close } = useEntryAddress();
  const { opened, schema, query } = useOpening(descriptor, id, start);
  if (opened && schema)
    return <EntryDrawer descriptor={descriptor} opened={opened} schema={schema} onClose={close} />;
  return (
    query.error && (
      <Drawer title={id ?? ''} onClose={close}>
        <Loaded query={query}>{() => null}</Loaded>
      </Drawer>
    )
  );
};

/** @param start the initial values of a new entry, if they depend on the address */
export const EntryEditor = (props: { descriptor: EntryDescriptor; start?: Spec | undefined }) => {
  const { isNew, id, from } = useEntryAddress();
  const { descriptor, start = descriptor.start } = props;
  if (isNew) return <Opening key={`new ${from ?? ''}`} descriptor={descriptor} id={from} start={start} />;
  return id !== undefined && <Opening key={id} descriptor={descriptor} id={id} start={undefined} />;
};
