import { useId } from 'react';
import { controlLook, filterLook } from '../design/Field.tsx';
import { useQueryState } from './use-query-state.ts';
import { useTyped } from './use-typed.ts';

/** A request is sent after typing has paused for this long. */
const PAUSE_MS = 300;

/** A text filter whose value is in the address of the screen. */
export const TextFilter = (props: {
  /** Name of the query parameter. */
  name: string;
  label: string;
  title?: string | undefined;
  /** Suggestions while typing. */
  options?: readonly string[] | undefined;
}) => {
  const [query, setQuery] = useQueryState();
  const [typed, type] = useTyped(query[props.name] ?? '', PAUSE_MS, (text) =>
    setQuery({ [props.name]: text.trim() || undefined }),
  );
  const listId = useId();
  return (
    <label className={filterLook} title={props.title}>
      {props.label}
      <input
        className={controlLook}
        type="text"
        value={typed}
        list={props.options && listId}
        onChange={({ target }) => type(target.value)}
      />
      {props.options && (
        <datalist id={listId}>
          {props.options.map((option) => (
            <option key={option} value={option} />
          ))}
        </datalist>
      )}
    </label>
  );
};
