// Package seal turns bytes into tokens that only the holders of a key can make
// or read: AES-256-GCM under a ring of keys, so that keys can be replaced
// while tokens are on their way.
//
// A token is unpadded base64url of
//
//	version (1) | key id (8) | salt (24) | ciphertext and tag
//
// Key and nonce come from HKDF-SHA256 over the ring's key and the salt, which
// is random: 24 bytes do not repeat, where the 12 of a nonce might. What
// stands before the ciphertext is authenticated, together with data that is
// not in the token: a token opens only for the purpose it was made for.
// Nothing is compressed, as that would tell the contents by their length.
package seal

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
)

// MinKey is the least length of a key in bytes.
const MinKey = 32

const (
	version    = 1
	idSize     = 8
	saltSize   = 24
	headerSize = 1 + idSize + saltSize
	keySize    = 32
	nonceSize  = 12
	tagSize    = 16
)

// Overhead is how many bytes a token has besides its contents, before they
// are written as base64.
const Overhead = headerSize + tagSize

// ErrRefused is the one error of Open: whoever presents a token learns nothing
// from how it failed.
var ErrRefused = errors.New("seal: the token was altered, made with another key, or made for another purpose")

// Ring holds keys. It is immutable and safe for concurrent use.
type Ring struct{ keys []key }

type key struct {
	id     [idSize]byte
	secret []byte
}

// NewRing returns a ring of the given keys: the first seals, all open. Keys
// have at least MinKey bytes and should be random.
func NewRing(keys ...[]byte) (*Ring, error) {
	if len(keys) == 0 {
		return nil, errors.New("seal: a ring needs a key")
	}
	r := new(Ring)
	for i, secret := range keys {
		if len(secret) < MinKey {
			return nil, fmt.Errorf("seal: key %d has %d bytes, fewer than %d", i, len(secret), MinKey)
		}
		k := key{secret: bytes.Clone(secret)}
		copy(k.id[:], derive(k.secret, nil, "typedmcp seal key id", idSize))
		r.keys = append(r.keys, k)
	}
	return r, nil
}

// RandomRing returns a ring of one random key, which ends with the process.
func RandomRing() *Ring {
	secret := make([]byte, MinKey)
	_, _ = rand.Read(secret) // never fails
	r, _ := NewRing(secret)
	return r
}

var encoding = base64.RawURLEncoding.Strict()

// Seal returns a token that holds plain and opens only with the same bound.
func (r *Ring) Seal(plain, bound []byte) string {
	k := &r.keys[0]
	header := make([]byte, headerSize, headerSize+len(bound))
	header[0] = version
	copy(header[1:], k.id[:])
	salt := header[1+idSize : headerSize]
	_, _ = rand.Read(salt) // never fails
	aead, nonce := k.cipher(salt)
	out := make([]byte, headerSize, Overhead+len(plain))
	copy(out, header)
	return encoding.EncodeToString(aead.Seal(out, nonce, plain, append(header, bound...)))
}

// Open returns what a token of Seal holds. The error is ErrRefused, always.
func (r *Ring) Open(token string, bound []byte) ([]byte, error) {
	raw, err := encoding.DecodeString(token)
	// The decoder skips line breaks; a token has none.
	if err != nil || encoding.EncodedLen(len(raw)) != len(token) || len(raw) < Overhead || raw[0] != version {
		return nil, ErrRefused
	}
	header := raw[:headerSize:headerSize]
	for i := range r.keys {
		k := &r.keys[i]
		if !bytes.Equal(k.id[:], header[1:1+idSize]) {
			continue
		}
		aead, nonce := k.cipher(header[1+idSize:])
		plain, err := aead.Open(nil, nonce, raw[headerSize:], append(header, bound...))
		if err == nil {
			return plain, nil
		}
	}
	return nil, ErrRefused
}

// cipher derives the cipher and nonce of the one token that has this salt.
func (k *key) cipher(salt []byte) (cipher.AEAD, []byte) {
	out := derive(k.secret, salt, "typedmcp seal v1", keySize+nonceSize)
	block, err := aes.NewCipher(out[:keySize])
	if err != nil {
		panic(err) // the key has the right size
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err) // the cipher has the right block size
	}
	return aead, out[keySize:]
}

func derive(secret, salt []byte, purpose string, n int) []byte {
	out, err := hkdf.Key(sha256.New, secret, salt, purpose, n)
	if err != nil {
		panic(err) // n is far below the limit of 255 hashes
	}
	return out
}
