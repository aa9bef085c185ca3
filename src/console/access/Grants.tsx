import { Chip } from '../design/Chip.tsx';
import look from '../design/Look.module.css';
import { useTexts } from '../i18n/locale.ts';
import { meaningOf, toneOf } from './grants.ts';
import { texts } from './texts.ts';

export const GrantChip = ({ grant }: { grant: string }) => {
  const t = useTexts(texts);
  return (
    <Chip tone={toneOf(grant)} title={meaningOf(grant, t)}>
      <code>{grant}</code>
    </Chip>
  );
};

const MOST_CHIPS = 3;

/** Grants in a cell of a table. The tooltip of a chip is the meaning of its grant. */
export const GrantChips = ({ grants }: { grants: readonly string[] }) => (
  <span className={look.row}>
    {grants.slice(0, MOST_CHIPS).map((grant) => (
      <GrantChip key={grant} grant={grant} />
    ))}
    {grants.length > MOST_CHIPS && (
      <span className={look.quiet} title={grants.slice(MOST_CHIPS).join(', ')}>
        +{grants.length - MOST_CHIPS}
      </span>
    )}
  </span>
);

/** Grants with their meaning, one per row. */
export const GrantList = ({ grants, none }: { grants: readonly string[]; none: string }) => {
  const t = useTexts(texts);
  if (grants.length === 0) return <p className={look.quiet}>{none}</p>;
  return (
    <ul className={look.stack}>
      {grants.map((grant) => (
        <li key={grant} className={look.row}>
          <GrantChip grant={grant} />
          <span className={look.grow}>{meaningOf(grant, t)}</span>
        </li>
      ))}
    </ul>
  );
};
