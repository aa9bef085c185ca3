import { type KeyboardEvent, type ReactNode, useState } from 'react';
import { isObject, type JsonObject } from '../../data/guard.ts';
import { Button } from '../../design/Button.tsx';
import { TextField } from '../../design/Inputs.tsx';
import { useTexts } from '../../i18n/locale.ts';
import { problemsIn } from '../../schema-form/check.ts';
import { type Unread, withUnread } from '../../schema-form/context.ts';
import { SchemaForm, useProblemTexts } from '../../schema-form/SchemaForm.tsx';
import css from './Inbox.module.css';
import texts from './texts.json' with { type: 'json' };
import { asksFor, type Open, type Wish, wishOf } from './tickets.ts';

/** The forms of a decision: a reason, an answer, or the edited arguments of a call. */

export type FormProps = { open: Open; disabled: boolean; onWish: (wish: Wish) => void; onBack: () => void };

const focusFirst = (form: HTMLElement | null): void =>
  form?.querySelector<HTMLElement>('input, textarea, select')?.focus();

export const Frame = (props: {
  disabled: boolean;
  submit: string;
  tone: 'danger' | 'primary';
  /** Enter alone submits the form. */
  isShort: boolean;
  onSubmit: () => void;
  onBack: () => void;
  children: ReactNode;
}) => {
  const t = useTexts(texts);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') props.onBack();
    else if (event.key !== 'Enter' || !(props.isShort || event.ctrlKey || event.metaKey)) return;
    else if (event.target instanceof HTMLButtonElement) return;
    else props.onSubmit();
    event.preventDefault();
  };
  return (
    <fieldset
      className={`stack ${css.form}`}
      disabled={props.disabled}
      ref={focusFirst}
      onKeyDown={onKeyDown}
    >
      {props.children}
      <div className="row end">
        <Button small onClick={props.onBack}>
          {t('back')}
        </Button>
        <Button small tone={props.tone} onClick={props.onSubmit}>
          {props.submit}
        </Button>
      </div>
    </fieldset>
  );
};

/** A reason for a denial, or an answer as text or JSON. */
export const TextForm = (props: FormProps & { isDenied: boolean }) => {
  const t = useTexts(texts);
  const { isDenied } = props;
  const [typed, setTyped] = useState('');
  const [problem, setProblem] = useState<string>();
  const submit = (): void => {
    const wish = wishOf(typed, isDenied);
    if (wish) props.onWish(wish);
    else setProblem(t('answer.problem'));
  };
  return (
    <Frame
      {...props}
      isShort={isDenied}
      submit={t(isDenied ? 'deny' : 'answer')}
      tone={isDenied ? 'danger' : 'primary'}
      onSubmit={submit}
    >
      <TextField
        label={t(isDenied ? 'why' : 'answer.text')}
        error={problem}
        rows={isDenied ? 1 : 3}
        value={typed}
        onChange={(text) => {
          setTyped(text);
          setProblem(undefined);
        }}
      />
    </Frame>
  );
};

/** The arguments of a call as a form of its tool's schema, or as JSON. */
export const ArgumentsForm = (props: FormProps & { schema: JsonObject | undefined }) => {
  const t = useTexts(texts);
  const problemText = useProblemTexts();
  const { open, schema = {} } = props;
  const [value, setValue] = useState(isObject(open.ticket.arguments) ? open.ticket.arguments : {});
  const [unread, setUnread] = useState<Unread>({});
  const [errors, setErrors] = useState<ReadonlyMap<string, string>>(new Map());
  const submit = (): void => {
    const problems = problemsIn(schema, value);
    setErrors(new Map(problems.map((problem) => [problem.path, problemText(problem)])));
    if (problems.length > 0 || Object.keys(unread).length > 0) return;
    const isPermission = asksFor(open.ticket) === 'permission';
    props.onWish(isPermission ? { do: 'approve', arguments: value } : { do: 'answer', value });
  };
  return (
    <Frame {...props} isShort={false} submit={t('approve.edited')} tone="primary" onSubmit={submit}>
      <SchemaForm
        label={t('argumentsOf')}
        schema={schema}
        ui={{}}
        value={value}
        path=""
        errors={errors}
        unread={unread}
        onUnread={(path, text) => setUnread((before) => withUnread(before, path, text))}
        onChange={setValue}
        asJson={props.schema === undefined}
      />
    </Frame>
  );
};
