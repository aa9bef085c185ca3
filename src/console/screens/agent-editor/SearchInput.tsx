import { controlLook } from '../../design/Field.tsx';
import css from './AgentEditor.module.css';

/** Searches the list of a card, in its heading. */
export const SearchInput = (props: { label: string; value: string; onChange: (value: string) => void }) => (
  <input
    type="search"
    className={`${controlLook} ${css.search}`}
    placeholder={props.label}
    aria-label={props.label}
    value={props.value}
    onChange={({ target }) => props.onChange(target.value)}
  />
);
