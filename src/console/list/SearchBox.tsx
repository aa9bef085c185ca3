import { useEffect, useRef, useState } from 'react';
import { controlLook } from '../design/Field.tsx';
import { Icon } from '../design/Icon.tsx';
import css from './List.module.css';

/** Typing pauses for so long before it is looked for. */
const PAUSE_MS = 150;

/** The key `/` brings the focus here (shell/shortcuts). */
export const SearchBox = (props: {
  value: string;
  placeholder: string;
  onChange: (value: string) => void;
}) => {
  const { value, onChange } = props;
  const [typed, setTyped] = useState(value);
  const [told, setTold] = useState(value);
  if (value !== told) {
    // Changed from elsewhere, such as by going back.
    setTold(value);
    setTyped(value);
  }
  const tell = useRef(onChange);
  tell.current = onChange;
  useEffect(() => {
    if (typed === told) return undefined;
    const timer = setTimeout(() => {
      setTold(typed);
      tell.current(typed);
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed, told]);
  return (
    <div className={css.search}>
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
