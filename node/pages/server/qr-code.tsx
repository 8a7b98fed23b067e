interface QrCodeProps {
  /** Rows, true where dark, with the light margin around them. */
  readonly modules: readonly (readonly boolean[])[];
  readonly label: string;
}

/** A QR code as a picture that prints sharply. */
export function QrCode({ modules, label }: QrCodeProps) {
  const size = modules.length;
  const path = modules.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : ''))).join('');
  return (
    <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shapeRendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}
