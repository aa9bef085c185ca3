import { controlLook } from '../design/Field.tsx';
import { Icon } from '../design/Icon.tsx';
import css from './List.module.css';
import { useTyped } from './use-typed.ts';

/** The search starts after typing has paused for this long. */
const PAUSE_MS = 150;

/** The key `/` focuses this input (shell/shortcuts). */
export const SearchBox = (props: {
  value: string;
  placeholder: string;
  onChange: (value: string) => void;
}) => {
  const [typed, setTyped] = useTyped(props.value, PAUSE_MS, props.onChange);
  return (
    <div className={`row quiet ${css.search}`}>
      <Icon name="search" />
      <input
        type="search"
        className={controlLook}
        data-page-search
        value={typed}
        placeholder={props.placeholder}
        aria-label={props.placeholder}
        onChange={(event) => setTyped(event.target.value)}
      />
    </div>
  );
};
