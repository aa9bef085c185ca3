import { type FormEvent, useEffect, useMemo, useRef, useState } from 'react';
import type { JsonObject } from '../../data/guard.ts';
import { Button } from '../../design/Button.tsx';
import { ConfirmDialog, Drawer } from '../../design/Dialog.tsx';
import { CheckField, Field } from '../../design/Field.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { shellTexts } from '../../shell/texts.ts';
import { UnsavedGuard } from '../../shell/UnsavedGuard.tsx';
import css from './Datasets.module.css';
import { fixtureOf, type Problems, problemsOf, type Typed, typedOf } from './fixture.ts';
import { texts } from './texts.ts';

/** One test case: what is asked, what must hold, and what the model answered when it was recorded. */

type TextField = Exclude<keyof Typed, 'isLoose'>;

type Editing = {
  typed: Typed;
  problems: Problems;
  set: (fields: Partial<Typed>) => void;
};

const Lines = ({
  editing,
  name,
  label,
  rows = 2,
}: {
  editing: Editing;
  name: TextField;
  label: string;
  rows?: number;
}) => {
  return (
    <Field label={label} error={editing.problems[name]}>
      {(control) => (
        <textarea
          {...control}
          rows={rows}
          spellCheck={false}
          value={editing.typed[name]}
          onChange={({ target }) => editing.set({ [name]: target.value })}
        />
      )}
    </Field>
  );
};

const Line = ({ editing, name, label }: { editing: Editing; name: TextField; label: string }) => {
  return (
    <Field label={label} error={editing.problems[name]}>
      {(control) => (
        <input
          {...control}
          type="text"
          value={editing.typed[name]}
          onChange={({ target }) => editing.set({ [name]: target.value })}
        />
      )}
    </Field>
  );
};

const Expectations = ({ editing }: { editing: Editing }) => {
  const t = useTexts(texts);
  return (
    <fieldset className={css.box}>
      <legend>{t('expect.title')}</legend>
      <div className={css.two}>
        <Lines editing={editing} name="contains" label={t('expect.contains')} />
        <Lines editing={editing} name="excludes" label={t('expect.excludes')} />
        <Lines editing={editing} name="tools" label={t('expect.tools')} />
        <Lines editing={editing} name="forbidden" label={t('expect.forbidden')} />
      </div>
      <CheckField
        label={t('expect.toolsMode')}
        checked={editing.typed.isLoose}
        onChange={(isLoose) => editing.set({ isLoose })}
      />
      <div className={css.two}>
        <Line editing={editing} name="tokens" label={t('expect.tokens')} />
        <Line editing={editing} name="duration" label={t('expect.duration')} />
        <Line editing={editing} name="judge" label={t('expect.judge')} />
        <Line editing={editing} name="error" label={t('expect.error')} />
      </div>
      <Lines editing={editing} name="more" label={t('expect.more')} />
    </fieldset>
  );
};

export const FixtureForm = (props: {
  /** Undefined: a new one. */
  fixture: JsonObject | undefined;
  taken: ReadonlySet<string>;
  busy: boolean;
  /** @param before as it was when it was opened */
  onSave: (fixture: JsonObject, before: JsonObject | undefined) => Promise<boolean>;
  onClose: () => void;
}) => {
  const t = useTexts(texts);
  const shell = useTexts(shellTexts);
  const { taken, onClose } = props;
  // What others make of it meanwhile is merged when it is stored.
  const [fixture] = useState(props.fixture);
  const start = useMemo(() => typedOf(fixture ?? {}), [fixture]);
  const [typed, setTyped] = useState(start);
  const [problems, setProblems] = useState<Problems>({});
  const [isLeaving, leave] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (Object.keys(problems).length > 0)
      form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [problems]);
  const isDirty = JSON.stringify(typed) !== JSON.stringify(start);
  const editing: Editing = {
    typed,
    problems,
    set: (fields) => setTyped({ ...typed, ...fields }),
  };
  const save = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    const found = problemsOf(typed, taken, t);
    setProblems(found);
    if (Object.keys(found).length > 0) return;
    if (await props.onSave(fixtureOf(typed, fixture ?? {}), fixture)) onClose();
  };
  const close = (): void => (isDirty ? leave(true) : onClose());
  return (
    <Drawer title={t(fixture ? 'fixture.title' : 'fixture.new')} onClose={close}>
      <form ref={form} className={css.form} noValidate onSubmit={(event) => void save(event)}>
        <div className={css.two}>
          <Line editing={editing} name="id" label={t('fixture.id')} />
          <Line editing={editing} name="description" label={t('fixture.description')} />
        </div>
        <Lines editing={editing} name="input" label={t('fixture.input')} rows={3} />
        <Expectations editing={editing} />
        <Lines editing={editing} name="script" label={t('fixture.script')} rows={4} />
        <Lines editing={editing} name="turns" label={t('fixture.turns')} />
        <div className={css.foot}>
          <Button type="submit" tone="primary" disabled={props.busy || !isDirty} data-save>
            {t('fixture.save')}
          </Button>
          <Button onClick={close}>{t('cancel')}</Button>
        </div>
      </form>
      <UnsavedGuard isDirty={isDirty} />
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
    </Drawer>
  );
};
