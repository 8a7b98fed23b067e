/** The part of sodium-native 5 that is used; the package brings no types. */
declare module 'sodium-native' {
  interface Sodium {
    /** Into `ciphertext`, of 16 bytes more than `message`, which may be its beginning. Returns its length. */
    crypto_aead_chacha20poly1305_ietf_encrypt(
      ciphertext: Uint8Array,
      message: Uint8Array,
      additional: Uint8Array | null,
      unused: null,
      nonce: Uint8Array,
      key: Uint8Array,
    ): number;

    /** Into `message`, of 16 bytes less than `ciphertext`. Throws where it does not open. */
    crypto_aead_chacha20poly1305_ietf_decrypt(
      message: Uint8Array,
      unused: null,
      ciphertext: Uint8Array,
      additional: Uint8Array | null,
      nonce: Uint8Array,
      key: Uint8Array,
    ): number;
  }

  const sodium: Sodium;
  export = sodium;
}
