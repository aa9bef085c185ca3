import { type FormEvent, useEffect, useMemo, useRef, useState } from 'react';
import type { JsonObject } from '../../data/guard.ts';
import { same } from '../../data/spec.ts';
import { Button } from '../../design/Button.tsx';
import { Drawer } from '../../design/Dialog.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { DiscardDialog, UnsavedGuard } from '../../navigation/UnsavedGuard.tsx';
import { problemsIn } from '../../schema-form/check.ts';
import { type Unread, withUnread } from '../../schema-form/context.ts';
import { wordsFrom } from '../../schema-form/hints.ts';
import { SchemaForm, useProblemTexts } from '../../schema-form/SchemaForm.tsx';
import { present } from './fixture.ts';
import { FIXTURE, FIXTURE_UI } from './fixture-schema.ts';
import texts from './texts.json' with { type: 'json' };

/** The form of one test case: its input, its expectations, and the recorded responses of the model. */
export const FixtureForm = (props: {
  /** Undefined for a new test case. */
  fixture: JsonObject | undefined;
  taken: ReadonlySet<string>;
  busy: boolean;
  /** @param before the test case as it was when the form was opened */
  onSave: (fixture: JsonObject, before: JsonObject | undefined) => Promise<boolean>;
  onClose: () => void;
}) => {
  const t = useTexts(texts);
  const problemText = useProblemTexts();
  const { taken, onClose } = props;
  // Fixed when the form opens; concurrent changes are merged when it is saved.
  const [fixture] = useState(props.fixture);
  const start = useMemo(() => present(fixture ?? {}), [fixture]);
  const [draft, setDraft] = useState(start);
  const [unread, setUnread] = useState<Unread>({});
  const [errors, setErrors] = useState<ReadonlyMap<string, string>>(new Map());
  const [isLeaving, leave] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const words = useMemo(() => wordsFrom(t, texts, (place) => `field.${place}`), [t]);
  useEffect(() => {
    if (errors.size > 0) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [errors]);
  const isDirty = !same(draft, start) || Object.keys(unread).length > 0;
  const save = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const found = new Map(problemsIn(FIXTURE, draft).map((one) => [one.path, problemText(one)]));
    if (taken.has(String(draft.id))) found.set('id', t('problem.taken'));
    setErrors(found);
    if (found.size > 0 || Object.keys(unread).length > 0) return;
    if (await props.onSave(present(draft), fixture)) onClose();
  };
  const close = (): void => (isDirty ? leave(true) : onClose());
  return (
    <Drawer title={t(fixture ? 'fixture.title' : 'fixture.new')} onClose={close}>
      <form ref={form} className="stack" noValidate onSubmit={(event) => void save(event)}>
        <SchemaForm
          label={t('fixture.title')}
          schema={FIXTURE}
          ui={FIXTURE_UI}
          words={words}
          value={draft}
          errors={errors}
          unread={unread}
          onUnread={(path, text) => setUnread((before) => withUnread(before, path, text))}
          onChange={setDraft}
        />
        <div className="row">
          <Button type="submit" tone="primary" disabled={props.busy || !isDirty} data-save>
            {t('fixture.save')}
          </Button>
          <Button onClick={close}>{t('common.cancel')}</Button>
        </div>
      </form>
      <UnsavedGuard isDirty={isDirty} />
      {isLeaving && <DiscardDialog onDiscard={onClose} onKeep={() => leave(false)} />}
    </Drawer>
  );
};
