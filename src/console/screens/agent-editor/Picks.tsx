import type { ReactNode } from 'react';
import { boxLook } from '../../design/Field.tsx';
import css from './AgentEditor.module.css';

export type Pick = {
  id: string;
  about?: string | undefined;
  isPicked: boolean;
  isLocked?: boolean;
  /** Marks after the id, such as that the entry no longer exists. */
  marks?: ReactNode;
};

/** A list of ids with check boxes. */
export const Picks = (props: { picks: readonly Pick[]; onPick: (id: string, isPicked: boolean) => void }) => (
  <ul className={css.rows}>
    {props.picks.map(({ id, about, isPicked, isLocked, marks }) => (
      <li key={id}>
        <label className={css.row}>
          <input
            type="checkbox"
            className={boxLook}
            checked={isPicked}
            disabled={isLocked}
            onChange={({ target }) => props.onPick(id, target.checked)}
          />
          <span className="mono">{id}</span>
          {marks}
          <span className="quiet cut grow">{about}</span>
        </label>
      </li>
    ))}
  </ul>
);

/** The list with the id added at its end, or removed. */
export const picked = (list: readonly string[], id: string, isPicked: boolean): string[] => {
  const others = list.filter((other) => other !== id);
  return isPicked ? [...others, id] : others;
};
