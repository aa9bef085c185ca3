import css from './Data.module.css';

/** A line chart of values, oldest first. The text next to it says the same. */
export const Sparkline = (props: {
  values: readonly number[];
  width?: number;
  height?: number;
  /** A design token, such as `--info`. */
  color?: string;
  /** Text alternative that names the values and their time range. */
  label: string;
}) => {
  const { values, width = 120, height = 28, color = '--accent' } = props;
  const highest = Math.max(1, ...values);
  const step = values.length > 1 ? width / (values.length - 1) : width;
  const points = values.map(
    (value, index) => `${index * step},${height - 1 - (value / highest) * (height - 2)}`,
  );
  // A single value is drawn as a horizontal line.
  const [only] = points;
  const line = points.length === 1 && only ? [only, only.replace('0,', `${width},`)] : points;
  return (
    <svg
      className={css.spark}
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={props.label}
    >
      <polyline
        points={line.join(' ')}
        fill="none"
        stroke={`var(${color})`}
        strokeWidth="1.5"
        strokeLinejoin="round"
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  );
};

/** A distribution of durations; never used for a course over time. */
export const Bars = (props: {
  values: readonly number[];
  width?: number;
  height?: number;
  label: string;
}) => {
  const { values, width = 56, height = 18 } = props;
  const highest = Math.max(1, ...values);
  const bar = width / Math.max(1, values.length);
  const drawn = (value: number, index: number): string => {
    const tall = value === 0 ? 1 : Math.max(2, (value / highest) * height);
    return `M${index * bar} ${height}v${-tall}h${Math.max(1, bar - 1)}v${tall}z`;
  };
  return (
    <svg className={css.spark} width={width} height={height} role="img" aria-label={props.label}>
      <path d={values.map(drawn).join('')} fill="var(--accent)" />
    </svg>
  );
};
