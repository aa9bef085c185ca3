import { useMemo } from 'react';
import { isObject, type JsonObject } from '../data/guard.ts';
import { useTexts } from '../i18n/locale.ts';
import { isBlank, type Problem, problemsIn } from './check.ts';
import { Form, type Unread, unreadAt } from './context.ts';
import { JsonBox } from './JsonBox.tsx';
import { Members } from './Node.tsx';
import css from './SchemaForm.module.css';
import { type Schema, seen } from './schema.ts';
import { texts } from './texts.ts';

/**
 * A form for any JSON object that a schema is known of. It says what is wrong while it is typed, and what is missing
 * once somebody has tried to save it (`errors`).
 */
export type SchemaFormProps = {
  label: string;
  schema: Schema;
  ui: JsonObject;
  value: JsonObject;
  /** Where the value is in what is saved: `errors` and `unread` name places from there on. */
  path: string;
  errors: ReadonlyMap<string, string>;
  unread: Unread;
  onUnread: (path: string, text: string | undefined) => void;
  onChange: (value: JsonObject) => void;
  /** All of it as JSON. */
  asJson?: boolean | undefined;
};

/** Places and texts of what is wrong. */
export const useProblemTexts = (): ((problem: Problem) => string) => {
  const t = useTexts(texts);
  return ({ key, values }) => t(key, values);
};

export const SchemaForm = (props: SchemaFormProps) => {
  const { label, schema, ui, value, path, errors, unread, onUnread, onChange } = props;
  const textOf = useProblemTexts();
  const shown = useMemo(() => {
    const found = problemsIn(schema, value, schema, path).filter((problem) => !isBlank(problem));
    return new Map([...found.map((problem) => [problem.path, textOf(problem)] as const), ...errors]);
  }, [schema, value, path, errors, textOf]);
  const form = useMemo(
    () => ({
      root: schema,
      errors: shown,
      unread,
      onUnread,
      forget: (place: string) => {
        for (const field of unreadAt(unread, place)) onUnread(field, undefined);
      },
    }),
    [schema, shown, unread, onUnread],
  );
  const take = (next: unknown): void => {
    if (isObject(next)) onChange(next);
  };
  const own = seen(schema, schema);
  const isJson = props.asJson || own.view.kind !== 'object';
  return (
    <Form value={form}>
      {isJson ? (
        <JsonBox label={label} path={path} value={value} rows={14} asObject onChange={take} />
      ) : (
        <>
          {shown.get(path) && <p className={css.wrong}>{shown.get(path)}</p>}
          <Members seen={own} ui={ui} path={path} value={value} onChange={take} />
        </>
      )}
    </Form>
  );
};
